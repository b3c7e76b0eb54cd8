import Foundation
import HealthFormats
import HealthModel
import HealthStore

/// What one of several files holds.
struct ExportPart: Sendable {
  /// Of the file, without its suffix.
  var name: String
  var reader: StoredSampleReader
  var plan: StoredSampleReader.Plan
}

/// Divides the samples that are to be exported among files.
struct ExportParts: Sendable {
  private let reader: StoredSampleReader
  private let plan: StoredSampleReader.Plan
  private let isFeed: Bool

  /// - Parameters:
  ///   - plan: of all samples.
  ///   - isFeed: whether what is deleted or hidden has a place in the files, too.
  init(_ reader: StoredSampleReader, _ plan: StoredSampleReader.Plan, isFeed: Bool) {
    self.reader = reader
    self.plan = plan
    self.isFeed = isFeed
  }

  /// In the order of their names, but for workouts, which are in the order of time. In some there may be nothing.
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
        // A month of UTC has parts of two months here.
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

  /// A file for each workout that is to be exported itself, or whose routes are.
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
      // Which of two is first may change; what its identity is does not.
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
  /// The month in which an instant falls by the clocks of a zone.
  fileprivate init(containing instant: Timestamp, in zone: TimeZone) {
    self = CalendarMonth(String(instant.date(in: zone).dropLast("-01".count))) ?? CalendarMonth(containing: instant)
  }

  /// When it begins there; `nil` beyond the ends of what microseconds can hold.
  fileprivate func start(in zone: TimeZone) -> Timestamp? { CivilTime("\(description)-01").map(zone.first(of:)) }
}
