"""Streams: facts that happen at time points, windows over them, and the time that moves on.

In: facts pushed and retracted at time points, `advance(now)`; events with times of their own.
Out: changes for the engine: hidden facts about arrivals, windows and the clock.

- `fact_rows`: facts as rows of ids, in arrays and one by one
- `arrival_log`: the one log of all arrivals, past and future, as long as they can matter
- `window_contents`: the window operator: what enters and leaves a window of any kind
- `feeds`: the hidden facts about time, each kind kept up to date by itself
- `timeline`: all feeds together: what changes for the engine when time moves
- `clocked_engine`: what a timeline means for an engine
- `time_movement`: the door: push, retract, advance
- `event_time`: watermarks: from sources with times of their own to the clock
- `saved_time`: the clock and the arrivals that can still matter, as a value
- `playback`: events from files and live sources, at their pace
- `reclamation`: terms of facts, reclaimed when no id of theirs is in use
- `lifetimes`: since when a fact has held, and until when it will
- `time_warnings`: rules about time that are hardly meant as they are written

Paper: Laser (windows, sometime, always, at).
Design: docs/design/0011-terms-that-pass-by.md
"""
