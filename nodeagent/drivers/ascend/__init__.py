"""Huawei Ascend chips through `npu-smi`, whose tables have no fixed columns."""
