import Foundation
import HealthFormats
import HealthModel
import HealthStore

/// The content of one file of a divided export.
struct ExportPart: Sendable {
  /// The file name without its extension.
  var name: String
  var reader: StoredSampleReader
  var plan: StoredSampleReader.Plan
}

/// A division of the exported samples among files.
struct ExportParts: Sendable {
  private let reader: StoredSampleReader
  private let plan: StoredSampleReader.Plan
  private let isFeed: Bool

  /// Creates a division.
  ///
  /// - Parameters:
  ///   - plan: the plan of the whole export.
  ///   - isFeed: whether tombstones and hidden samples are exported, too.
  init(_ reader: StoredSampleReader, _ plan: StoredSampleReader.Plan, isFeed: Bool) {
    self.reader = reader
    self.plan = plan
    self.isFeed = isFeed
  }

  /// Returns the parts sorted by name, or by time if they are workouts. Some parts may be empty.
  func divided(_ split: ExportSplit) async throws -> [ExportPart] {
    switch split {
    case .type: try await types()
    case .month(let zone): try await months(zone)
    case .workout(let zone): try await workouts(zone)
    }
  }

  // MARK: Types and months

  private func types() async throws -> [ExportPart] {
    let types =
      isFeed ? try await reader.store.digests.current(reader.filter).record.types.map(\.type) : plan.types
    var names = PartNames()
    return types.map { type in
      part(named: names.unused(PartNames.name(of: type)), SampleFilter(types: [type]), [type])
    }.sorted { $0.name < $1.name }
  }

  private func months(_ zone: TimeZone) async throws -> [ExportPart] {
    var months: [CalendarMonth: Set<SampleType>] = [:]
    for entry in try await reader.store.digests.current(reader.filter).record.types {
      for month in entry.months.map(\.month) {
        // A month in UTC overlaps two months in the zone.
        let instants = month.instants
        for local in [instants.lowerBound, instants.upperBound].map({ CalendarMonth(containing: $0, in: zone) }) {
          months[local, default: []].insert(entry.type)
        }
      }
    }
    let shown = Set(plan.types)
    return months.sorted { $0.key < $1.key }.map { month, types in
      let next = CalendarMonth(number: month.number + 1)
      return part(
        named: month.description, SampleFilter(earliest: month.start(in: zone), end: next.start(in: zone)),
        types.intersection(shown).sorted())
    }
  }

  private func part(named name: String, _ filter: SampleFilter, _ types: [SampleType]) -> ExportPart {
    ExportPart(
      name: name, reader: StoredSampleReader(store: reader.store, filter: reader.filter.intersection(filter)),
      plan: StoredSampleReader.Plan(types: types))
  }

  // MARK: Workouts

  private struct Outing {
    var start: Timestamp
    var uuid: UUID
    var activity: String
    var samples: [SampleReference]
  }

  /// Returns a part for each workout that is exported itself or has exported routes.
  private func workouts(_ zone: TimeZone) async throws -> [ExportPart] {
    var outings: [Outing] = []
    if reader.filter.passes(.workout) {
      try await reader.pages(of: .workout) { page in
        for sample in page { outings.append(Self.outing(sample, [sample.reference])) }
      }
    }
    var tracks: [SampleReference] = []
    var routes: [SampleReference: [SampleReference]] = [:]
    if reader.filter.passes(.workoutRoute) {
      for route in try await reader.store.samples.routes(in: reader.filter.range, from: reader.filter.sources) {
        if let workout = route.workout {
          routes[workout, default: []].append(route.route)
        } else {
          tracks.append(route.route)
        }
      }
    }
    for (reference, routes) in routes {
      guard let workout = try await reader.store.samples.sample(reference) else {
        tracks += routes
        continue
      }
      outings.append(Self.outing(workout, routes))
    }
    outings += tracks.map { Outing(start: $0.start, uuid: $0.uuid, activity: "Workout", samples: [$0]) }
    outings.sort { ($0.start, $0.uuid.uuidString) < ($1.start, $1.uuid.uuidString) }
    let stems = outings.map { PartNames.name(at: $0.start, in: zone, of: $0.activity) }
    let counts = Dictionary(stems.map { ($0, 1) }, uniquingKeysWith: +)
    var names = PartNames()
    return zip(outings, stems).map { outing, stem in
      // The order of two workouts may change between exports, but their UUIDs do not.
      let name = counts[stem] == 1 ? stem : "\(stem)-\(outing.uuid.uuidString.prefix(8))"
      var types: [SampleType] = []
      for sample in outing.samples where !types.contains(sample.type) { types.append(sample.type) }
      return ExportPart(
        name: names.unused(name),
        reader: StoredSampleReader(store: reader.store, filter: reader.filter, selection: outing.samples),
        plan: StoredSampleReader.Plan(types: types, samples: outing.samples.count))
    }
  }

  private static func outing(_ workout: Sample, _ samples: [SampleReference]) -> Outing {
    var activity = "Workout"
    if case .workout(let content) = workout.payload { activity = content.activityType.displayName }
    return Outing(start: workout.start, uuid: workout.uuid, activity: activity, samples: samples)
  }
}

extension CalendarMonth {
  /// Creates the month that contains an instant in a zone.
  fileprivate init(containing instant: Timestamp, in zone: TimeZone) {
    self = CalendarMonth(String(instant.date(in: zone).dropLast("-01".count))) ?? CalendarMonth(containing: instant)
  }

  /// Returns the start of the month in a zone, or `nil` if a `Timestamp` cannot hold it.
  fileprivate func start(in zone: TimeZone) -> Timestamp? { CivilTime("\(description)-01").map(zone.first(of:)) }
}
