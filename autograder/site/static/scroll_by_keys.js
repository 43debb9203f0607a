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
