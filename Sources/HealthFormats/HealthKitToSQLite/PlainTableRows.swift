import HealthModel

/// Converts the plain quantities and categories of a page to rows, encoding each text of the page's dictionaries
/// once. ``HealthKitTables/row(of:)`` creates the same rows, for any sample.
public struct PlainTableRows {
  private let text: AppleText
  private let changes: CodedChanges
  private let forms: [CodedForm]
  /// The table of each type, or `nil` for Health Auto Export's aggregates, which have no table.
  private let tables: [String?]
  private let units: [TableRow.Value?]
  private let sources: [(name: TableRow.Value, version: TableRow.Value?)]
  private let devices: [TableRow.Value?]
  /// The columns of each metadata text, or `nil` if its columns cannot be derived from its entries alone.
  private let metadata: [[(column: String, value: TableRow.Value)]?]

  /// Prepares the dictionaries of a page.
  ///
  /// - Parameter offset: the UTC offset of all printed dates, in seconds and whole minutes.
  /// - Throws: `DecodingError` if a text in the dictionaries is malformed.
  public init(_ changes: CodedChanges, offset: Int) throws {
    self.changes = changes
    let text = AppleText(offset: offset)
    self.text = text
    forms = changes.kinds.map(CodedForm.init(kind:))
    tables = changes.types.map { AppReadings.isOwnType($0) ? nil : HealthKitTables.table(of: $0) }
    units = changes.units.map { $0.isEmpty ? nil : Self.value($0) }
    sources = changes.sources.map { (Self.value($0.name), $0.version.map(Self.value)) }
    devices = changes.devices.map { text.device($0).map(Self.value) }
    metadata = try changes.metadata.map { metadata in
      let metadata = try CanonicalJSON.decode(Metadata.self, metadata)
      if metadata.keys.contains(where: { $0.begins(with: "hpeer.") || $0.contains("#") }) { return nil }
      let entries = KeptMetadata(metadata, text).entries.map {
        (column: "metadata_" + XMLOutput.sayable($0.key), value: Self.value($0.value))
      }
      // If two keys have the same spelling in XML, HealthKitTables handles the sample.
      return Set(entries.map(\.column)).count == entries.count ? entries : nil
    }
  }

  /// Returns the row of a sample.
  ///
  /// - Parameter row: a sample of the page.
  /// - Returns: `nil` if the sample has no table or has more than a number, a unit and plain metadata.
  public func row(of row: CodedSample) -> TableRow? {
    guard let table = tables[Int(row.type)], row.payload == nil else { return nil }
    var entries: [(column: String, value: TableRow.Value)] = []
    if let index = row.metadata {
      guard let known = metadata[Int(index)] else { return nil }
      entries = known
    }
    var value: String?
    switch forms[Int(row.kind)] {
    case .quantity: value = text.number(row.number ?? .nan)
    case .category:
      let integer = row.number.flatMap(Int64.init(exactly:))
      guard row.number == nil || integer != nil else { return nil }
      value = CategoryValueNames.healthKit.exported(CategoryValue(value: integer), type: changes.types[Int(row.type)])
    case .other: return nil
    }
    var result = TableRow(table: table)
    result.columns.reserveCapacity(8 + entries.count)
    result.values.reserveCapacity(8 + entries.count)
    let source = sources[Int(row.source)]
    result.append("sourceName", source.name)
    if let version = source.version { result.append("sourceVersion", version) }
    if let index = row.device, let device = devices[Int(index)] { result.append("device", device) }
    if let index = row.unit, let unit = units[Int(index)] { result.append("unit", unit) }
    if let created = row.created { result.append("creationDate", .text(text.date(created))) }
    let start = text.date(row.start)
    result.append("startDate", .text(start))
    result.append("endDate", .text(row.end == row.start ? start : text.date(row.end)))
    if let value { result.append("value", .text(value)) }
    for entry in entries { result.append(entry.column, entry.value) }
    return result
  }

  private static func value(_ text: String) -> TableRow.Value { .text(XMLOutput.sayable(text)) }
}
