"""The small sub-objects of `Memory`, one subject each: `memory.loops`, `memory.episodes`."""
