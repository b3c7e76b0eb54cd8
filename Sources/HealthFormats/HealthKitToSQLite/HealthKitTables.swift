import HealthModel

/// Converts samples to rows of the tables that healthkit-to-sqlite creates from Apple's export, with the same
/// columns, texts and identifiers.
///
/// ``AppleExportWriter`` supplies the content of each element, so a table holds what healthkit-to-sqlite would find
/// in an `export.xml` of the same samples. Samples for which that program has no table (correlations beside their
/// members, electrocardiograms, ...) have no row.
///
/// ```swift
/// func tables(_ samples: [Sample]) -> Set<String> {
///   var tables = HealthKitTables(offset: 7200)
///   return Set(samples.compactMap { tables.row(of: $0)?.table })   // rHeartRate, workouts, ...
/// }
/// ```
public struct HealthKitTables {
  private var writer: AppleExportWriter
  /// The UTC offset given to the initialiser, in seconds.
  public let offset: Int

  /// - Parameter offset: the UTC offset of all printed dates, in seconds and whole minutes.
  public init(offset: Int) {
    self.offset = offset
    writer = AppleExportWriter(keepingElements: offset)
  }

  // MARK: Tables

  public static let summaries = "activity_summary"
  public static let workouts = "workouts"
  /// The table of route points; its `workout_id` refers to `id` in ``workouts``.
  public static let points = "workout_points"

  /// A column that a table always has, even if no row has a value in it.
  public struct Column: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      case text, number
      /// A text that identifies the row.
      case identifier
      /// The identifier of a row in ``workouts``.
      case workout
    }

    public var name: String
    public var kind: Kind
  }

  /// Returns the columns that a table always has, in order. Further columns, such as `metadata_HKTimeZone`, hold text
  /// and are added with the first row that uses them.
  ///
  /// - Parameter table: any name; a name other than the three above is that of a record type.
  public static func columns(of table: String) -> [Column] {
    switch table {
    case summaries: texts(["dateComponents"] + ActivitySummary.attributeNames)
    case workouts: [Column(name: "id", kind: .identifier)] + texts(workoutColumns)
    case points:
      texts(["date"]) + pointColumns[1...7].map { Column(name: $0, kind: .number) }
        + [Column(name: "workout_id", kind: .workout)]
    default: texts(recordColumns)
    }
  }

  private static func texts(_ names: [String]) -> [Column] { names.map { Column(name: $0, kind: .text) } }

  private static let recordColumns = [
    "startDate", "endDate", "value", "unit", "sourceName", "sourceVersion", "device", "creationDate",
  ]
  private static let workoutColumns = [
    "workoutActivityType", "duration", "durationUnit", "totalDistance", "totalDistanceUnit", "totalEnergyBurned",
    "totalEnergyBurnedUnit", "sourceName", "sourceVersion", "device", "creationDate", "startDate", "endDate",
    "workout_events",
  ]
  private static let pointColumns = [
    "date", "latitude", "longitude", "altitude", "horizontalAccuracy", "verticalAccuracy", "course", "speed",
    "workout_id",
  ]

  /// Returns the table name of a record type, such as `rHeartRate`. The type need not be HealthKit's.
  public static func table(of type: SampleType) -> String {
    "r"
      + type.rawValue.replacing("HKQuantityTypeIdentifier", with: "")
      .replacing("HKCategoryTypeIdentifier", with: "")
  }

  // MARK: Rows

  /// Returns the row of a sample, or `nil` if it has no table. The rows of a route come from ``points(of:workout:)``.
  public mutating func row(of sample: Sample) -> TableRow? {
    switch AppleExportWriter.section(of: sample) {
    case .records:
      guard writer.append(sample), let element = writer.output.takeElements().first else { return nil }
      return record(element, table: table(of: sample.type))
    case .workouts:
      guard case .workout(let workout) = sample.payload, writer.append(sample),
        let element = writer.output.takeElements().first
      else { return nil }
      return row(of: workout, element)
    case .activitySummaries:
      guard writer.append(sample), let element = writer.output.takeElements().first else { return nil }
      return record(element, table: Self.summaries)
    case .characteristics, .correlations, .others, .routes, .none: return nil
    }
  }

  /// The type and table name of the previous record, kept because the next one usually has the same type.
  private var lastTable: (type: SampleType, name: String)?

  private mutating func table(of type: SampleType) -> String {
    if let lastTable, lastTable.type == type { return lastTable.name }
    let name = Self.table(of: type)
    lastTable = (type, name)
    return name
  }

  private func record(_ element: WrittenElement, table: String) -> TableRow {
    var row = TableRow(table: table)
    let count = element.attributes.count + element.children.count
    row.columns.reserveCapacity(count)
    row.values.reserveCapacity(count)
    for attribute in element.attributes where element.name != "Record" || attribute.name != "type" {
      row.append(attribute.name, .text(attribute.value))
    }
    append(metadata: element, to: &row)
    return row
  }

  /// Appends metadata columns. If a key occurs twice, the last entry counts.
  private func append(metadata element: WrittenElement, to row: inout TableRow) {
    for entry in element.children where entry.name == "MetadataEntry" {
      guard let key = entry["key"], let value = entry["value"] else { continue }
      let column = "metadata_" + key
      if let index = row.columns.firstIndex(of: column) {
        row.values[index] = .text(value)
      } else {
        row.append(column, .text(value))
      }
    }
  }

  // MARK: Workouts

  private func row(of workout: Workout, _ element: WrittenElement) -> TableRow {
    var row = record(element, table: Self.workouts)
    let events = element.children.filter { $0.name == "WorkoutEvent" }.map(\.attributes)
    var members = row.columns.indices.map { index -> (String, PythonJSON) in
      guard case .text(let text) = row.values[index] else { return (row.columns[index], .string("")) }
      return (row.columns[index], .string(text))
    }
    let list = PythonJSON.array(events.map { .object($0.map { ($0.name, .string($0.value)) }) })
    members.append(("workout_events", list))
    row.append("workout_events", .text(list.text))
    row.columns.insert("id", at: 0)
    row.values.insert(.text(PythonJSON.object(members).hash), at: 0)
    // Since iOS 16 the totals are statistics, where healthkit-to-sqlite does not look.
    total("totalEnergyBurned", of: workout, ["ActiveEnergyBurned"], &row)
    total("totalDistance", of: workout, ["DistanceWalkingRunning", "DistanceCycling", "DistanceSwimming"], &row)
    return row
  }

  /// Adds a total from the first of these statistics that has a sum, if the workout itself has no total. The row's
  /// identifier must be computed before, because healthkit-to-sqlite does not know such totals.
  private func total(_ name: String, of workout: Workout, _ types: [String], _ row: inout TableRow) {
    guard workout.totals[name] == nil, row[name] == nil else { return }
    let found = types.lazy.compactMap { type in
      workout.statistics.first { $0.type.rawValue == "HKQuantityTypeIdentifier" + type && $0.sum != nil }
    }.first
    guard let sum = found?.sum, let unit = found?.unit else { return }
    row.append(name, .text(writer.text.number(sum)))
    row.append(name + "Unit", .text(unit))
  }

  /// Returns the rows of the points of a route, or of a part of a route.
  ///
  /// - Parameter workout: the `id` of its workout's row.
  public func points(of sample: Sample, workout: String) -> [TableRow] {
    guard case .workoutRoute(let route) = sample.payload else { return [] }
    return route.points.map { point in
      let date = point.date(from: sample.start).map { instant in
        // Uses the GPX file's date format, or the element's format for a route without a file.
        route.path == nil ? writer.text.date(instant) : instant.iso8601
      }
      let numbers = [
        point.latitude, point.longitude, point.elevation, point.horizontalAccuracy, point.verticalAccuracy,
        point.course, point.speed,
      ]
      return TableRow(
        table: Self.points, columns: Self.pointColumns,
        values: [date.map { .text($0) } ?? .null] + numbers.map { $0.map { .number($0) } ?? .null } + [.text(workout)])
    }
  }
}
