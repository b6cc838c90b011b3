"""Pure: what alerts are about, when one begins and ends, who hears of it when."""
