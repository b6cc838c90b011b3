// Sets the colour theme before the first paint; kept per user of this browser.
(function () {
    "use strict";
    const root = document.documentElement;
    const key = "gpupool-theme:" + (root.dataset.user || "");
    const dark = window.matchMedia("(prefers-color-scheme: dark)");

    function chosen() {
        try {
            return localStorage.getItem(key) || "auto";
        } catch (blocked) {
            return "auto";
        }
    }

    function apply() {
        const choice = chosen();
        const theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
        root.setAttribute("data-bs-theme", theme);
        root.dataset.themeChoice = choice;
        document.dispatchEvent(new CustomEvent("gpupool:theme", { detail: theme }));
    }

    function choose(choice) {
        try {
            localStorage.setItem(key, choice);
        } catch (blocked) {
            root.dataset.themeLost = "1";
        }
        apply();
        mark();
    }

    function mark() {
        document.querySelectorAll("button[data-theme-choice]").forEach(function (button) {
            button.setAttribute("aria-pressed", String(button.dataset.themeChoice === root.dataset.themeChoice));
        });
    }

    apply();
    dark.addEventListener("change", apply);
    document.addEventListener("DOMContentLoaded", mark);
    document.addEventListener("click", function (event) {
        const button = event.target.closest("button[data-theme-choice]");
        if (button) {
            choose(button.dataset.themeChoice);
        }
    });
})();
