/// How a report looks, on paper first.
enum ReportStyle {
  static let css = """
    @page { size: A4; margin: 12mm 15mm; }
    * { box-sizing: border-box; }
    html { font: 9pt/1.3 "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; color: #111; background: #fff; }
    body { margin: 0 auto; max-width: 180mm; padding: 8mm 0; }
    h1 { font-size: 17pt; margin: 0 0 1mm; }
    h2 { font-size: 11.5pt; margin: 4mm 0 1mm; border-bottom: 0.3mm solid #111; padding-bottom: 0.5mm; }
    h3 { font-size: 9.5pt; margin: 2mm 0 0; }
    p { margin: 1mm 0; }
    header p { color: #333; }
    table { border-collapse: collapse; width: 100%; font-size: 8.5pt; }
    th, td { padding: 0.7mm 1.5mm; text-align: left; vertical-align: top; border-bottom: 0.15mm solid #bbb; }
    thead th { font-weight: 600; text-align: right; white-space: nowrap; }
    tbody th { white-space: nowrap; }
    thead th.text { text-align: left; }
    tbody th { font-weight: 400; padding-left: 0; }
    .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .unit { color: #444; }
    svg { display: block; width: 100%; height: auto; margin: 1mm 0; }
    svg.strip { width: auto; max-width: none; }
    .axis, .date { font-size: 9px; fill: #333; }
    .axis { text-anchor: end; }
    .grid { stroke: #ccc; stroke-width: 0.5; fill: none; }
    .span { stroke: #1a4d8f; fill: none; }
    .bar { fill: #6f94c4; }
    .line { fill: none; stroke: #1a4d8f; stroke-width: 1.3; }
    circle { fill: #7d9fca; }
    .fine { stroke: #f3c9c4; stroke-width: 8; fill: none; }
    .coarse { stroke: #e39b92; stroke-width: 14; fill: none; }
    .trace { stroke: #000; stroke-width: 22; fill: none; stroke-linejoin: round; }
    ul.columns { columns: 4; column-gap: 4mm; list-style: none; padding: 0; margin: 1mm 0; font-size: 8.5pt; }
    footer { margin-top: 5mm; color: #444; font-size: 8pt; }
    section section { break-inside: avoid; }
    @media print { body { padding: 0; max-width: none; } .page + .page { break-before: page; } }
    """
}
