"""Money: prices, usage, the ledger, invoices."""
