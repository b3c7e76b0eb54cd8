import HealthAnalysis
import HealthFormats
import HealthModel

/// A table of statistics for spreadsheets (RFC 4180), with a row for each bucket. Values are not rounded.
package struct StatisticsTable {
  private static let columns = [
    "type", "unit", "bucket", "zone", "start", "end", "date", "partial", "sum", "mean", "min", "max", "last",
    "meanOfSamples", "samples", "twins", "sources",
  ]

  /// The header line, with its line end.
  package static let header = Array((columns.joined(separator: ",") + "\r\n").utf8)

  /// Appends the rows of a type, each with its line end.
  ///
  /// - Parameter text: converts untrusted text, such as the name of a source.
  package static func append(
    _ statistics: Statistics, _ entries: some Sequence<BucketEntry>, _ zone: ZoneRules,
    text: (String) -> String = { $0 }, to bytes: inout [UInt8]
  ) {
    let (type, unit) = (text(statistics.type.shortName), statistics.unit.map(text))
    for entry in entries {
      var fields: [String: String] = [
        "type": type, "bucket": statistics.size.rawValue, "zone": statistics.zone,
        "start": zone.text(entry.bucket.start), "end": zone.text(entry.bucket.end),
        "date": zone.date(entry.bucket.start), "partial": "\(entry.isPartial)",
      ]
      fields["unit"] = unit
      switch entry.number {
      case .sum(let sum):
        fields["sum"] = "\(sum.sum)"
        fields["twins"] = "\(sum.twins)"
        fields["sources"] = sum.sources.map { text($0.name) }.joined(separator: "; ")
      case .discrete(let values):
        fields["mean"] = values.mean.map { "\($0)" }
        fields["min"] = "\(values.minimum)"
        fields["max"] = "\(values.maximum)"
        fields["last"] = "\(values.last)"
        fields["meanOfSamples"] = "\(values.meanOfSamples)"
        fields["samples"] = "\(values.count)"
      case nil: break
      }
      for (index, column) in columns.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        if let field = fields[column] { SampleCSVWriter.append(field, to: &bytes) }
      }
      bytes.append(contentsOf: [0x0D, 0x0A])
    }
  }
}

/// The selection and layout of the statistics in ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON``.
public struct StatisticsForm: Sendable {
  public enum Shape: String, Sendable, CaseIterable {
    /// A row for each type and bucket, with all known statistics.
    case long
    /// A row for each bucket, with columns for the sum, or the mean and extremes, of every type.
    case wide
  }

  public var size: BucketSize
  public var zone: ZoneRules
  public var weekStartsOnSunday: Bool
  public var shape: Shape
  /// Whether buckets without samples are included, with empty values.
  public var fillsGaps: Bool
  /// The time of the export. The bucket that contains it is partial.
  let now = Timestamp.now

  static var daysInUTC: StatisticsForm { StatisticsForm(in: ZoneRules(offset: 0, name: "UTC")) }

  /// Creates a form.
  ///
  /// - Parameter zone: the time zone of the buckets.
  public init(
    by size: BucketSize = .day, in zone: ZoneRules, weekStartsOnSunday: Bool = false, shape: Shape = .long,
    fillsGaps: Bool = false
  ) {
    (self.size, self.zone, self.weekStartsOnSunday) = (size, zone, weekStartsOnSunday)
    (self.shape, self.fillsGaps) = (shape, fillsGaps)
  }
}
