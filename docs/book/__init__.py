"""What builds the book, beside Sphinx: notebooks, help and schemas as pages, pictures for two backgrounds, links."""
