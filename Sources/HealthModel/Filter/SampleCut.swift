/// What of a sample a reader may know who may see what passes a filter only: a correlation names members that the reader
/// may not see, a workout sums them up.
///
/// Every wire asks this one. What was cut is marked as partial, so that a copy which was not takes its place
/// (``Payload/isBetterCopy(than:)``).
///
/// ```swift
/// func shown(_ workout: Sample) -> Sample {
///   let scope = SampleFilter(types: [.workout, SampleType("HKQuantityTypeIdentifierHeartRate")])
///   return scope.cut.applied(to: workout)  // Without its statistics of other types.
/// }
/// ```
public struct SampleCut: Hashable, Sendable {
  /// What the reader may see.
  public let scope: SampleFilter

  /// - Parameter scope: what the reader may see; ``SampleFilter/everything`` cuts nothing.
  public init(_ scope: SampleFilter) {
    self.scope = scope
  }

  /// The payload kinds that say something of other samples.
  public static let kinds: Set<String> = ["correlation", "workout"]

  /// Whether the scope is everything, so that nothing is ever left out.
  public var isWhole: Bool { scope == .everything }

  /// The sample without what it says of samples that the reader may not see. Whether the reader may see the sample itself
  /// is not asked here.
  public func applied(to sample: Sample) -> Sample {
    var cut = sample
    apply(to: &cut.payload, &cut.metadata)
    return cut
  }

  /// Does the same to what a sample says, and to its metadata.
  public func apply(to payload: inout Payload, _ metadata: inout Metadata) {
    if isWhole { return }
    guard Self.kinds.contains(payload.kind) else { return }
    let (whole, entries) = (payload, metadata.count)
    switch payload {
    case .correlation(var correlation):
      correlation.members.removeAll { !scope.passes($0) }
      hide(&metadata)
      payload = .correlation(correlation)
      if payload == whole, metadata.count == entries { return }
      correlation.isPartial = true
      payload = .correlation(correlation)
    case .workout(var workout):
      hide(&workout)
      hide(&metadata)
      payload = .workout(workout)
      if payload == whole, metadata.count == entries { return }
      workout.isPartial = true
      payload = .workout(workout)
    default: break
    }
  }

  /// What does not say when it started did so with its sample.
  private func shows(_ type: SampleType, _ start: Timestamp?) -> Bool {
    scope.passes(type) && start.map(scope.passes(start:)) ?? true
  }

  // MARK: Workouts

  private func hide(_ workout: inout Workout) {
    let distances = Self.distances(of: workout)
    workout.totals = workout.totals.filter { name, _ in
      switch name {
      case "totalDistance": distances.allSatisfy(scope.passes)
      default: scope.types == nil || Self.totals[name].map(scope.passes) ?? false
      }
    }
    workout.statistics.removeAll(where: isHidden)
    hide(&workout.events)
    for index in workout.activities.indices {
      workout.activities[index].statistics.removeAll(where: isHidden)
      hide(&workout.activities[index].metadata)
      hide(&workout.activities[index].events)
    }
  }

  private func hide(_ events: inout [WorkoutEvent]) {
    for index in events.indices { hide(&events[index].metadata) }
  }

  private func isHidden(_ statistics: WorkoutStatistics) -> Bool { !shows(statistics.type, statistics.start) }

  /// The quantity types that the totals of a workout sum up, by attribute name.
  private static let totals = [
    "totalEnergyBurned": SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"),
    "totalFlightsClimbed": SampleType("HKQuantityTypeIdentifierFlightsClimbed"),
    "totalSwimmingStrokeCount": SampleType("HKQuantityTypeIdentifierSwimmingStrokeCount"),
  ]

  /// The distance types that `totalDistance` may include: those among the statistics of the workout and of its activities,
  /// or every distance type if the workout itself has no distance statistics.
  private static func distances(of workout: Workout) -> Set<SampleType> {
    let sums = Set(workout.statistics.map(\.type)).intersection(distances)
    if sums.isEmpty { return distances }
    return sums.union(distances.intersection(workout.activities.flatMap(\.statistics).map(\.type)))
  }

  private static let distances = Set(
    [
      "WalkingRunning", "Cycling", "Swimming", "Wheelchair", "DownhillSnowSports", "CrossCountrySkiing", "PaddleSports",
      "Rowing", "SkatingSports",
    ].map { SampleType("HKQuantityTypeIdentifierDistance\($0)") })

  // MARK: Metadata

  /// What an import kept of unknown elements and attributes, for want of a better place, may say anything of anything.
  private func hide(_ metadata: inout Metadata) {
    metadata = metadata.filter { entry in !Self.keptPrefixes.contains { entry.key.begins(with: $0) } }
  }

  private static let keptPrefixes = ["hpeer.element.", "hpeer.attribute."]
}

extension Payload {
  /// Whether something was left out of it for a reader who may not see it.
  public var isPartial: Bool {
    switch self {
    case .correlation(let correlation): correlation.isPartial
    case .workout(let workout): workout.isPartial
    default: false
    }
  }

  /// Whether a copy of a sample that says this takes the place of one that says `other`: a whole one that of a partial
  /// one; of two partial ones the one that says more, and of two that say as much, the one whose text comes first, so that
  /// all machines keep the same.
  public func isBetterCopy(than other: Payload) throws -> Bool {
    guard other.isPartial, kind == other.kind else { return false }
    if !isPartial { return true }
    let (mine, theirs) = (statements, other.statements)
    if mine != theirs { return mine > theirs }
    let (text, otherText) = (try CodedPayload(self).json ?? "", try CodedPayload(other).json ?? "")
    return text.utf8.lexicographicallyPrecedes(otherText.utf8)
  }

  /// How much it says of other samples.
  private var statements: Int {
    switch self {
    case .correlation(let correlation): correlation.members.count
    case .workout(let workout):
      workout.totals.count + workout.statistics.count + workout.activities.reduce(0) { $0 + $1.statistics.count }
    default: 0
    }
  }
}
