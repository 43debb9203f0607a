// What is wider than the page is scrolled by keyboard, too, and fades where there is more of it.
(() => {
  const SCROLLED = "pre, .math-wrapper, .table-wrapper, .output, .page-content table, .katze-scroll";
  const show = (part) => {
    const [gone, left] = [Math.abs(part.scrollLeft), part.scrollWidth - part.clientWidth];
    part.dataset.more = left < 2 ? "" : `${gone > 1 ? "before" : ""} ${gone < left - 1 ? "after" : ""}`;
  };
  const reach = () => {
    for (const part of document.querySelectorAll(SCROLLED)) {
      if (!part.matches(".katze-scroll")) {
        if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
        else part.removeAttribute("tabindex");
      }
      show(part);
    }
  };
  addEventListener("scroll", (event) => event.target.matches?.(SCROLLED) && show(event.target), true);
  addEventListener("load", () => new ResizeObserver(reach).observe(document.body));
})();
