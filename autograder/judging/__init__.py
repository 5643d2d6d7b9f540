"""The trusted side: what is asked, what must hold, which mistake an answer looks like."""
