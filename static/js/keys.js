// Keys: j/k and enter walk a list, letters press marked buttons, ? explains, / searches. Off inside fields.
(function () {
    "use strict";

    function typing(target) {
        return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable=true], .modal.show");
    }

    function rows() {
        return Array.from(document.querySelectorAll("[data-row]")).filter(function (row) {
            return row.offsetParent !== null;
        });
    }

    function current() {
        return document.querySelector("[data-row].gp-current");
    }

    function step(by) {
        const all = rows();
        if (!all.length) {
            return;
        }
        const now = current();
        const at = now ? all.indexOf(now) + by : by > 0 ? 0 : all.length - 1;
        const next = all[Math.min(Math.max(at, 0), all.length - 1)];
        if (now) {
            now.classList.remove("gp-current");
        }
        next.classList.add("gp-current");
        next.scrollIntoView({ block: "nearest" });
        const link = next.querySelector("[data-open]") || next;
        link.focus({ preventScroll: true });
        if (next.dataset.row === "preview") {
            link.click();
        }
    }

    function press(key) {
        const scope = current();
        const choice = "[data-key='" + CSS.escape(key) + "']";
        const button = (scope && scope.querySelector(choice)) || document.querySelector(choice);
        if (!button || button.disabled || button.offsetParent === null) {
            return false;
        }
        // What was swapped in this instant has no handlers yet: a click now would be lost.
        if (button.closest(".htmx-settling, .htmx-swapping")) {
            document.addEventListener("htmx:afterSettle", function () {
                press(key);
            }, { once: true });
            return true;
        }
        if (button.matches("input:not([type=checkbox]), textarea, select")) {
            button.focus();
        } else {
            button.click();
        }
        return true;
    }

    function help() {
        const dialog = document.getElementById("keyboard-help");
        if (dialog) {
            window.tabler.Modal.getOrCreateInstance(dialog).show();
        }
    }

    // What scrolls can be reached by keyboard; what does not, costs no extra stop.
    function reach() {
        document.querySelectorAll(".table-responsive, .offcanvas-body").forEach(function (box) {
            const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
            if (scrolls) {
                box.tabIndex = 0;
            } else {
                box.removeAttribute("tabindex");
            }
        });
    }

    document.addEventListener("DOMContentLoaded", reach);
    document.addEventListener("htmx:afterSettle", reach);
    document.addEventListener("gpupool:swapped", reach);
    document.addEventListener("shown.bs.offcanvas", reach);
    window.addEventListener("resize", reach);
    document.addEventListener("keydown", function (event) {
        if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) {
            return;
        }
        const moves = { j: 1, k: -1 };
        if (event.key in moves) {
            step(moves[event.key]);
        } else if (event.key === "?") {
            help();
        } else if (event.key.length === 1 && !press(event.key)) {
            return;
        } else if (event.key.length !== 1) {
            return;
        }
        event.preventDefault();
    });
    document.addEventListener("click", function (event) {
        const row = event.target.closest("[data-row]");
        if (!row) {
            return;
        }
        const now = current();
        if (now) {
            now.classList.remove("gp-current");
        }
        row.classList.add("gp-current");
        if (row.dataset.href && !event.target.closest("a, button, input, label, summary")) {
            window.location.assign(row.dataset.href);
        }
    });
})();
