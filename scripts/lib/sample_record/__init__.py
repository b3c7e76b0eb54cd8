"""A made-up person's health record: who they are (person), how a day goes (day), what their devices note of it (devices),
Apple's export of that (apple_export), and what the right totals are (truth)."""
