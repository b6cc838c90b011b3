"""What is asked about approvals: who may decide, how long it takes, what people were told."""
