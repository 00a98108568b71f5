"""The phases of a rigid lander: flight, and contact stepped in one way or another."""
