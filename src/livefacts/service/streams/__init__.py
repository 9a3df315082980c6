"""Streams: facts that happen at time points, windows over them, and the time that moves on.

Paper: Laser (windows, sometime, always, at).

- `arrivals`: Arrivals: what streams have brought and will bring, by time point
- `count_windows`: Windows by count: the last facts that arrived, kept up to date, and what they may still need
- `event_time`: Event time: between a source whose facts carry their own times, and a reasoner's clock
- `feeds`: Feeds: the facts about time that the engine is told, each kind kept up to date by itself
- `lifetimes`: How long a fact lasts: since when it has held, and until when it will if nothing more happens
- `playback`: Playing: events from files and live sources to a reasoner, at the pace they should have
- `reclamation`: Reclaiming: terms of streams are given back when nobody speaks of them any more
- `stream_log`: Stream logs: what has arrived on each stream, by time point, as long as a window may need it
- `streams`: Streams: facts arrive, time moves, and conclusions follow
- `time_warnings`: Doubts about time: rules that are followed as they are written, but hardly as they were meant
- `timeline`: The timeline: what the engine is told when facts arrive and time moves
"""
