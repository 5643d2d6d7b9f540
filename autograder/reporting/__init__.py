"""How a judgement is told: accessible HTML in notebooks, plain text elsewhere, JSON for other programs."""
