// What cells show follows JupyterLab's mark of the theme: here it follows the page's own switch.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const mark = () => {
    const chosen = document.body.dataset.theme || "auto";
    document.body.dataset.jpThemeLight = String(chosen === "auto" ? !dark.matches : chosen === "light");
  };
  addEventListener("DOMContentLoaded", () => {
    mark();
    dark.addEventListener("change", mark);
    new MutationObserver(mark).observe(document.body, { attributeFilter: ["data-theme"] });
  });
})();

// What is wider than the page is scrolled by keyboard, too.
(() => {
  const reach = () => {
    for (const part of document.querySelectorAll("pre, .math-wrapper, .table-wrapper, .output, .page-content table")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  addEventListener("load", () => new ResizeObserver(reach).observe(document.body));
})();
