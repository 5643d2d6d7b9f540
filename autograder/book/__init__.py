"""What builds the web book: figure style, interactive figures, stored outputs, and the page of claims."""
