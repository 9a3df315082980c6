"""Facts that happen at time points, and the time that moves on."""
