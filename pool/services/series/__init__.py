"""Work that is many: arrays of pieces, work after other work, work again and again."""
