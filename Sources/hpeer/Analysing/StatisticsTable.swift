import HealthAnalysis
import HealthFormats
import HealthModel
import Terminal

/// The numbers of types as one table for spreadsheets (RFC 4180), a row for each bucket. Nothing is rounded.
struct StatisticsTable {
  private static let columns = [
    "type", "unit", "bucket", "zone", "start", "end", "date", "partial", "sum", "mean", "min", "max", "last",
    "meanOfSamples", "samples", "twins", "sources",
  ]

  static let header = Array((columns.joined(separator: ",") + "\r\n").utf8)

  /// The rows of a type, each with the end of its line.
  static func rows(_ statistics: Statistics, _ zone: ZoneRules) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in statistics.values {
      var fields: [String: String] = [
        "type": PlainText.escaped(statistics.type.shortName, limit: 1_000), "bucket": statistics.size.rawValue,
        "zone": statistics.zone,
        "start": zone.text(value.bucket.start), "end": zone.text(value.bucket.end),
        "date": zone.date(value.bucket.start), "partial": "\(value.isPartial)",
      ]
      fields["unit"] = statistics.unit.map { PlainText.escaped($0, limit: 1_000) }
      switch value.number {
      case .sum(let sum):
        fields["sum"] = "\(sum.sum)"
        fields["twins"] = "\(sum.twins)"
        fields["sources"] = sum.sources.map { PlainText.escaped($0.name, limit: 1_000) }.joined(separator: "; ")
      case .discrete(let values):
        fields["mean"] = values.mean.map { "\($0)" }
        fields["min"] = "\(values.minimum)"
        fields["max"] = "\(values.maximum)"
        fields["last"] = "\(values.last)"
        fields["meanOfSamples"] = "\(values.meanOfSamples)"
        fields["samples"] = "\(values.count)"
      }
      for (index, column) in columns.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        if let field = fields[column] { SampleCSVWriter.append(field, to: &bytes) }
      }
      bytes.append(contentsOf: [0x0D, 0x0A])
    }
    return bytes
  }
}
