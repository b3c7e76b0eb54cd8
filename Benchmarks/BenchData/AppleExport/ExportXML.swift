import HealthModel
import TestSupport

/// A generator of an export's XML, piece by piece. Not safe for concurrent use.
final class ExportXML {
  /// A run of elements of the same kind.
  private enum Section {
    /// The records of a kind, or of a member of a correlation kind.
    case records(kind: Int, member: Int?)
    case correlations(kind: Int)
    case workouts(kind: Int)
  }

  private enum Stage { case head, sections, summaries, end }

  private static let piece = 256 << 10

  let export: MadeExport
  var text: ExportText
  /// A generator of device addresses, which differ from export to export.
  private var addresses: SeededGenerator
  private var stage = Stage.head
  private var sections: [Section]
  private var section: Section?
  private var series: ExportSeries?
  private var device: (device: Device, text: String)?
  private(set) var summary = MadeExport.Summary()
  /// The workout routes, by the start of their workout.
  let routes: [Int64: Route]

  init(_ export: MadeExport) {
    self.export = export
    text = ExportText(offset: export.offset)
    addresses = SeededGenerator(seed: export.seed &+ (export.changes == nil ? 7 : 8))
    routes = Dictionary(Route.all(of: export).map { ($0.start, $0) }, uniquingKeysWith: { first, _ in first })
    let kinds = Array(SeriesKind.all.indices)
    let (compound, plain) = (Set(["HKCorrelationType", "HKWorkoutType"]), kinds)
    func isCompound(_ kind: Int) -> Bool {
      compound.contains { SeriesKind.all[kind].type.rawValue.hasPrefix($0) }
    }
    let correlations = kinds.filter { SeriesKind.all[$0].type.rawValue.hasPrefix("HKCorrelationType") }
    var records: [Section] = plain.filter { !isCompound($0) }.map { .records(kind: $0, member: nil) }
    for kind in correlations { records += [.records(kind: kind, member: 0), .records(kind: kind, member: 1)] }
    // The kinds of one type are neighbours, so that either way it is one run.
    if export.has(.reordered) { records.reverse() }
    sections = records + correlations.map { .correlations(kind: $0) }
    sections += kinds.filter { SeriesKind.all[$0].type == .workout }.map { .workouts(kind: $0) }
    sections.reverse()
  }

  /// Returns the next piece, which is empty at the end.
  func next() -> [UInt8] {
    while text.bytes.count < Self.piece {
      switch stage {
      case .head:
        writeHead()
        stage = .sections
      case .sections:
        if !step() { stage = .summaries }
      case .summaries:
        writeSummaries()
        writeRare()
        text.add("</HealthData>\n")
        stage = .end
      case .end:
        let rest = text.take()
        summary.bytes += Int64(rest.count)
        return rest
      }
    }
    let taken = text.take()
    summary.bytes += Int64(taken.count)
    return taken
  }

  /// Writes the next element. Returns `false` if there is none.
  private func step() -> Bool {
    while true {
      if let section, let samples = series?.next() {
        write(samples, as: section)
        return true
      }
      guard let next = sections.popLast() else { return false }
      begin(next)
    }
  }

  private func begin(_ next: Section) {
    let kind =
      switch next {
      case .records(let kind, _), .correlations(let kind), .workouts(let kind): kind
      }
    let (all, first) = export.series(kind)
    let count = export.has(.new) ? first + max(1, first / 100) : first
    section = next
    series = ExportSeries(all, count: count, isDescending: kind.isMultiple(of: 2) != export.has(.reordered))
  }

  private func write(_ samples: [Sample], as section: Section) {
    guard let last = samples.last, !isGone(last) else { return }
    switch section {
    case .records(_, let member):
      let sample = samples[member ?? 0]
      summary.records += 1
      if export.hasDefects, summary.records.isMultiple(of: 499) {
        writeDefective(sample, number: summary.records / 499)
      } else {
        writeRecord(sample)
      }
      if export.hasTwins, summary.records.isMultiple(of: 1_009) {
        summary.records += 1
        writeRecord(sample)
      }
    case .correlations: writeCorrelation(last, members: samples.dropLast())
    case .workouts: writeWorkout(last)
    }
  }

  /// Returns whether a sample is among the one per cent that every export with deletions lacks.
  private func isGone(_ sample: Sample) -> Bool {
    guard export.has(.deleted) else { return false }
    var random = SeededGenerator(seed: UInt64(bitPattern: sample.start.seconds) &* 31 &+ export.seed)
    return random.oneIn(100)
  }

  // MARK: What elements have in common

  /// Adds `sourceName`, `sourceVersion` and `device`.
  func addSource(of sample: Sample) {
    let isRenamed = export.has(.renamed) && sample.source.name == Recorder.watchName
    text.attribute("sourceName", isRenamed ? sample.source.name + " Ultra" : sample.source.name)
    if let version = sample.source.version { text.attribute("sourceVersion", version) }
    guard let device = sample.device else { return }
    if self.device?.device != device {
      let fields = [
        ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model),
        ("hardware", device.hardwareVersion), ("software", device.softwareVersion),
      ].compactMap { name, value in value.map { ", \(name):\($0)" } }
      self.device = (device, fields.joined())
    }
    text.begin("device")
    text.add("&lt;&lt;HKDevice: 0x")
    text.add(String(addresses.next() & 0xFFF_FFF0 | 0x2_8000_0000, radix: 16))
    text.add("&gt;")
    text.add(escaped: self.device?.text ?? "")
    text.add("&gt;\"")
  }

  func addDates(of sample: Sample) {
    if let created = sample.created { text.attribute("creationDate", created) }
    text.attribute("startDate", sample.start)
    text.attribute("endDate", sample.end)
  }

  func addEntries(_ metadata: Metadata, indent: String) {
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      text.add(indent)
      text.add("<MetadataEntry")
      text.attribute("key", key)
      switch value {
      case .string(let string): text.attribute("value", string)
      case .integer(let integer): text.attribute("value", String(integer))
      case .number(let number): text.attribute("value", number)
      case .bool(let flag): text.attribute("value", flag ? "1" : "0")
      case .date(let date): text.attribute("value", date)
      }
      text.add("/>\n")
    }
  }

  /// Returns a quantity in the unit that the person had chosen by the time of the export.
  func displayed(_ value: Double, _ unit: String) -> (value: Double, unit: String) {
    guard export.has(.units) else { return (value, unit) }
    switch unit {
    case "km": return (value / 1.609_344, "mi")
    case "km/hr": return (value / 1.609_344, "mi/hr")
    case "kg": return (value / 0.453_592_37, "lb")
    default: return (value, unit)
    }
  }
}
