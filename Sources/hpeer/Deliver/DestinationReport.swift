import Destinations
import HealthModel
import HealthOperations
import HealthStore

/// A destination and the state of its deliveries, for `--json` and for people.
struct DestinationReport: Encodable {
  enum State: String, Encodable {
    /// All changes have been delivered.
    case upToDate = "up to date"
    /// Some changes have not been delivered yet.
    case behind
    case failing
    case paused
    /// The section has `enabled = false`.
    case disabled
    /// The section is gone from the settings, but the position is not.
    case leftOver = "left over"
  }

  var name: String
  var kind: String
  /// The effect of a repeated delivery: `idempotent`, `byKey`, `atLeastOnce`; `nil` for an unknown kind.
  var repetition: String?
  var state: State
  /// The maximum number of changes to deliver, to deliver again, or to remove there; `nil` if nothing was ever
  /// delivered or asked for.
  var behind: Int?
  var lastAttempt: Timestamp?
  var lastSuccess: Timestamp?
  var failingSince: Timestamp?
  var failures: Int?
  var reason: String?
  /// The time of the next attempt.
  var nextAttempt: Timestamp?
  var pausedSince: Timestamp?
  var delivered: Int
  var refused: Int
  /// The time at which it was last found to have lost something that it was given.
  var lossNoticed: Timestamp?
  /// The description of that loss, and what was done about it.
  var loss: String?

  /// Returns the destinations in the settings, and the remains of others, by name.
  ///
  /// - Parameter store: The store; `nil` before the first import or pull.
  static func all(_ file: SettingsFile, _ store: HealthStore?) async throws -> [DestinationReport] {
    let positions = try await store?.consumers() ?? []
    let states = try await store?.deliveries.all() ?? []
    var reports: [DestinationReport] = []
    for section in file.destinations {
      var report = DestinationReport(
        section, behind: RedeliveryRequests.behind(section.consumer, among: positions),
        states.first { $0.consumer == section.consumer })
      if report.state == .upToDate, let store,
        try await RedeliveryRequests.hasOldNumbers(section.consumer, units: section.common.units, in: store)
      {
        report.state = .behind
      }
      if let store, let loss = try await PlaceLoss.last(of: section.consumer, in: store) {
        (report.lossNoticed, report.loss) = (loss.noticed, loss.reason)
      }
      reports.append(report)
    }
    let known = Set(file.destinations.map(\.consumer))
    let kinds = DestinationKinds.all.map { $0.description.kind.rawValue + ":" }
    for position in positions where !known.contains(position.name) {
      let parts = position.name.split(separator: ":")
      guard parts.count == 2, kinds.contains(where: position.name.hasPrefix) else { continue }
      reports.append(
        DestinationReport(
          name: String(parts[1]), kind: String(parts[0]), state: .leftOver, behind: position.behind, delivered: 0,
          refused: 0))
    }
    return reports.sorted { $0.name < $1.name }
  }

  private init(
    name: String, kind: String, repetition: String? = nil, state: State, behind: Int?, delivered: Int, refused: Int
  ) {
    (self.name, self.kind, self.repetition, self.state) = (name, kind, repetition, state)
    (self.behind, self.delivered, self.refused) = (behind, delivered, refused)
  }

  private init(_ section: DestinationSection, behind: Int?, _ found: DeliveryState?) {
    let delivery = found ?? DeliveryState(consumer: section.consumer)
    let state: State =
      switch (section.common.isEnabled, delivery.paused, delivery.failing, behind) {
      case (false, _, _, _): .disabled
      case (_, _?, _, _): .paused
      case (_, _, _?, _): .failing
      case (_, _, _, 0?): .upToDate
      default: .behind
      }
    self.init(
      name: section.name, kind: section.kind.description.kind.rawValue,
      repetition: section.kind.description.repetition.rawValue, state: state, behind: behind,
      delivered: delivery.delivered, refused: delivery.refused)
    (lastAttempt, lastSuccess, failingSince) = (delivery.attempted, delivery.succeeded, delivery.failing)
    failures = delivery.failures > 0 ? delivery.failures : nil
    (reason, pausedSince) = (delivery.reason, delivery.paused)
    nextAttempt = delivery.waiting.flatMap { $0 > .now ? $0 : nil }
  }
}
