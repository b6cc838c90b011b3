"""The templates every installation begins with: one for each scenario (requirement R1)."""

from typing import Any

from pool.events import Actor
from pool.models import Template
from pool.services.templates import template_create

HOUR, DAY = 3600, 86_400
NO_RUNNER = "no runner for this kind is installed yet"
NVIDIA = ["nvidia"]

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "slug": "finetune-20g-30",
        "name": "Fine-tuning, 20 GB + 30 %",
        "name_zh": "微调（20 GB + 30 %）",
        "description": "A part of a card for light fine-tuning: a MIG slice of that size, else a "
        "share of a card with your own project only.",
        "description_zh": "轻量微调所需的部分算力：优先使用 MIG 切片，否则与本项目共享一张卡。",
        "work_class": "finetuning",
        "need": {
            "memory_gb": 20,
            "compute_percent": 30,
            "modes": ["mig", "vgpu", "mps"],
            "vendors": NVIDIA,
        },
        "checkpoint_seconds": 1800,
        "max_seconds": 7 * DAY,
    },
    {
        "slug": "finetune-heavy",
        "name": "Fine-tuning, a whole large card",
        "name_zh": "重型微调（整张大显存卡）",
        "description": "From 40 GB on a card is used alone.",
        "description_zh": "需要 40 GB 以上显存时独占整卡。",
        "work_class": "finetuning",
        "need": {"whole": True, "min_size_gb": 40, "vendors": NVIDIA},
        "checkpoint_seconds": 1800,
        "max_seconds": 14 * DAY,
    },
    {
        "slug": "inference-mig",
        "name": "Inference server on a MIG slice",
        "name_zh": "推理服务（MIG 切片）",
        "description": "10 GB kept apart from neighbours by hardware, for a server that you start "
        "as a job.",
        "description_zh": "10 GB 硬件隔离切片，以作业方式启动推理服务。",
        "work_class": "inference",
        "need": {
            "memory_gb": 10,
            "modes": ["mig"],
            "isolation": "hardware",
            "vendors": NVIDIA,
        },
        "max_seconds": 30 * DAY,
        "default_seconds": DAY,
    },
    {
        "slug": "inference-autoscaled",
        "name": "Inference endpoint, scaled by load",
        "name_zh": "推理服务（按负载伸缩）",
        "description": "Replicas on slices, between a least and a most number.",
        "description_zh": "在切片上运行副本，按负载在上下限之间伸缩。",
        "kind": "replica",
        "work_class": "inference",
        "need": {"memory_gb": 10, "modes": ["mig", "vgpu"], "vendors": NVIDIA},
        "inactive_reason": NO_RUNNER,
    },
    {
        "slug": "train-whole-card",
        "name": "Training on whole cards",
        "name_zh": "训练（整卡）",
        "description": "One whole card; ask for more parts to train on several of one machine.",
        "description_zh": "独占整卡；增加份数即可在同一台机器的多张卡上训练。",
        "work_class": "training",
        "need": {"whole": True, "vendors": NVIDIA},
        "checkpoint_seconds": 1800,
        "max_seconds": 14 * DAY,
        "default_seconds": 8 * HOUR,
    },
    {
        "slug": "train-four-linked",
        "name": "Training on four linked cards",
        "name_zh": "训练（四卡 NVLink 互联）",
        "description": "Four whole cards inside one NVLink domain, all at once or none.",
        "description_zh": "同一 NVLink 域内的四张整卡，要么同时分配，要么等待。",
        "work_class": "training",
        "need": {"whole": True, "parts": 4, "topology": "linked", "vendors": NVIDIA},
        "checkpoint_seconds": 1800,
        "max_seconds": 14 * DAY,
        "default_seconds": 8 * HOUR,
    },
    {
        "slug": "pretrain-node",
        "name": "Pre-training on a whole machine",
        "name_zh": "预训练（整机）",
        "description": "Eight linked cards of a machine on which nothing else runs.",
        "description_zh": "独占一台八卡互联机器。",
        "work_class": "pretraining",
        "need": {"whole": True, "parts": 8, "topology": "whole_nodes", "vendors": NVIDIA},
        "checkpoint_seconds": 1800,
        "max_seconds": 30 * DAY,
        "default_seconds": DAY,
        "approval": {"steps": [{"role": "lead"}, {"role": "org_admin"}]},
    },
    {
        "slug": "notebook",
        "name": "Notebook",
        "name_zh": "交互式笔记本",
        "description": "JupyterLab on a slice; given back after two hours without activity.",
        "description_zh": "在切片上运行 JupyterLab，空闲两小时后自动回收。",
        "kind": "notebook",
        "work_class": "notebook",
        "need": {"memory_gb": 10, "modes": ["mig", "mps"], "vendors": NVIDIA},
        "priority": "low",
        "idle_seconds": 2 * HOUR,
        "max_seconds": 30 * DAY,
        "default_seconds": 12 * HOUR,
    },
    {
        "slug": "batch-inference",
        "name": "Batch inference",
        "name_zh": "批量推理",
        "description": "A slice at low priority, for work that may be interrupted and repeated.",
        "description_zh": "低优先级切片，适合可中断、可重试的批量任务。",
        "work_class": "batch_inference",
        "need": {"memory_gb": 10, "modes": ["mig", "mps"], "vendors": NVIDIA},
        "priority": "low",
        "preemptible": True,
        "max_seconds": 3 * DAY,
    },
    {
        "slug": "transcode",
        "name": "Transcoding",
        "name_zh": "视频转码",
        "description": "A time slice of a card with an encoder; compute is not bounded, memory by "
        "sampling only. Gives way at once.",
        "description_zh": "带编码器的卡上的时间片：算力不设上限，显存通过采样限制；随时让出。",
        "work_class": "transcoding",
        "need": {
            "memory_gb": 4,
            "compute_percent": 10,
            "encoder": True,
            "encoder_units": 1,
            "modes": ["timeslice"],
            "vendors": NVIDIA,
        },
        "priority": "scavenger",
        "preemptible": True,
        "unlimited_modes": True,
        "max_seconds": DAY,
    },
    {
        "slug": "cloud-desktop",
        "name": "Cloud desktop and rendering",
        "name_zh": "云桌面与渲染",
        "description": "A vGPU with an encoder for a virtual machine of the site.",
        "description_zh": "为站点虚拟机提供带编码器的 vGPU。",
        "kind": "external",
        "work_class": "desktop",
        "need": {
            "memory_gb": 8,
            "encoder": True,
            "graphics": True,
            "modes": ["vgpu"],
            "vendors": NVIDIA,
        },
        "inactive_reason": NO_RUNNER,
    },
    {
        "slug": "hpc-node",
        "name": "HPC on a whole machine",
        "name_zh": "高性能计算（整机）",
        "description": "Four cards of a machine on which nothing else runs, for MPI programs.",
        "description_zh": "独占一台四卡机器，适合 MPI 程序。",
        "work_class": "hpc",
        "need": {"whole": True, "parts": 4, "topology": "whole_nodes", "vendors": NVIDIA},
        "max_seconds": 7 * DAY,
        "default_seconds": 8 * HOUR,
        "approval": {"steps": [{"role": "lead"}, {"role": "org_admin"}]},
    },
    {
        "slug": "data-cpu",
        "name": "Data processing without a card",
        "name_zh": "数据处理（仅 CPU）",
        "description": "Four cores and 16 GiB of memory.",
        "description_zh": "4 核 CPU 与 16 GiB 内存，不占用加速卡。",
        "work_class": "data",
        "need": {"parts": 0, "cpu_milli": 4000, "ram_mib": 16_384},
        "max_seconds": 3 * DAY,
    },
    {
        "slug": "train-ascend",
        "name": "Training on Ascend cards",
        "name_zh": "训练（昇腾整卡）",
        "description": "One whole Ascend card, for programs built for CANN.",
        "description_zh": "独占一张昇腾卡，适用于基于 CANN 的程序。",
        "work_class": "training",
        "need": {"whole": True, "vendors": ["ascend"]},
        "max_seconds": 14 * DAY,
        "default_seconds": 8 * HOUR,
    },
    {
        "slug": "train-amd",
        "name": "Training on AMD cards",
        "name_zh": "训练（AMD 整卡）",
        "description": "One whole AMD card, for programs built for ROCm.",
        "description_zh": "独占一张 AMD 卡，适用于基于 ROCm 的程序。",
        "work_class": "training",
        "need": {"whole": True, "vendors": ["amd"]},
        "max_seconds": 14 * DAY,
        "default_seconds": 8 * HOUR,
    },
)


def templates_seed(*, actor: Actor) -> int:
    """Make the templates that are not there yet, in the order above; how many were made."""
    there = set(Template.objects.values_list("slug", flat=True))
    made = 0
    for rank, words in enumerate(TEMPLATES, start=1):
        if words["slug"] not in there:
            template_create(actor=actor, rank=rank * 10, **words)
            made += 1
    return made
