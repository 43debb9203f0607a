// Positions as clocks: each pair of dimensions, a sine and a cosine, is the tip of a hand. A position is
// blue, the one some positions further on is orange.

function draw({ encoding, shift }) {
  const pairs = range(encoding[0].length / 2);
  const names = pairs.map((pair) => `${2 * pair}, ${2 * pair + 1}`);
  const { element, say } = speaker();
  const tip = (position, pair) => [encoding[position][2 * pair], encoding[position][2 * pair + 1]];
  const degrees = ([sine, cosine]) => ((Math.atan2(sine, cosine) * 180) / Math.PI + 360) % 360;
  const furthest = shift == null ? 0 : Math.min(Math.max(40, 2 * shift), encoding.length >> 1);
  let [position, further] = [0, shift ?? 0];

  const faces = names.map((name, pair) => {
    const [blue, orange] = ["blue", "orange"].map((colour) => svg("line", { class: colour, "stroke-linecap": "round" }));
    const face = [svg("circle", { r: 46, class: "axis" }), svg("line", { y1: -40, y2: -46 }), orange, blue];
    const label = svg("text", { y: 62, "text-anchor": "middle" }, name);
    return { blue, orange, element: svg("g", { transform: `translate(${52 + 104 * pair},50)` }, ...face, label) };
  });
  const width = 104 * pairs.length;
  const picture = svg(
    "svg",
    { class: "katze-chart", viewBox: `0 0 ${width} 120`, role: "img", style: `max-width:${width}px` },
    ...faces.map((face) => face.element),
  );
  const rows = shift == null ? ["position"] : ["blue", "orange", "between"];
  const table = matrix("degrees from twelve", rows, names, { text: (value) => `${Math.round(value)}°`, most: Infinity });

  function update() {
    const other = position + further;
    const point = (line, [sine, cosine]) => fill(line, { x2: 42 * sine, y2: -42 * cosine }, []);
    pairs.forEach((pair) => {
      point(faces[pair].blue, tip(position, pair));
      point(faces[pair].orange, shift == null ? [0, 0] : tip(other, pair));
    });
    const [here, there] = [position, other].map((at) => pairs.map((pair) => degrees(tip(at, pair))));
    table.set([here, there, here.map((angle, pair) => (there[pair] - angle + 360) % 360)].slice(0, rows.length));
    picture.setAttribute("aria-label", `the hands of position ${position}${shift == null ? "" : ` and position ${other}`}`);
    const alike = dot(encoding[position], encoding[other]);
    if (shift == null) say(`Position ${position}: the first hand stands at ${Math.round(here[0])}°, the last at ${Math.round(here.at(-1))}°.`);
    else say(`Positions ${position} and ${other}: the dot product of their encodings is ${decimal(alike)}, as for any two this far apart.`);
  }

  const walk = player("position", encoding.length - furthest, (wanted) => {
    position = wanted;
    update();
  }, { text: String, seconds: 0.4 });
  const on = slider("positions further on", { max: furthest, value: further }, (wanted) => {
    further = wanted;
    update();
  });
  update();
  const controls = shift == null ? [walk.element] : [walk.element, on.element];
  return [row(...controls), picture, table.element, element];
}
