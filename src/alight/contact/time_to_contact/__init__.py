"""For how long a lander in flight surely touches nothing: lower bounds on the time to contact."""
