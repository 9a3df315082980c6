"""Streams: facts that happen at time points, windows over them, and the time that moves on.

In: facts pushed and retracted at time points, `advance(now)`; events with times of their own.
Out: changes for the engine: hidden facts about arrivals, windows and the clock.

- `stream_log`: the arrivals of each stream by time point, for registered queries
- `arrivals`: the arrivals that rules over time look at, past and future
- `count_windows`: the last facts that arrived
- `feeds`: the hidden facts about time, each kind kept up to date by itself
- `timeline`: all feeds together: what changes for the engine when time moves
- `streams`: the door: push, retract, advance
- `event_time`: watermarks: from sources with times of their own to the clock
- `playback`: events from files and live sources, at their pace
- `reclamation`: terms of streams, reclaimed when no id of theirs is in use
- `lifetimes`: since when a fact has held, and until when it will
- `time_warnings`: rules about time that are hardly meant as they are written

Paper: Laser (windows, sometime, always, at).
Design: docs/design/0011-terms-that-pass-by.md
"""
