import Destinations
import HealthModel
import HealthOperations
import HealthStore

/// A destination and how its deliveries go, for `--json` and for people.
struct DestinationReport: Encodable {
  enum State: String, Encodable {
    /// Everything is there.
    case upToDate = "up to date"
    /// Something is not there yet.
    case behind
    case failing
    case paused
    /// `enabled = false`.
    case disabled
    /// Its section is gone from the settings, its position is not.
    case leftOver = "left over"
  }

  var name: String
  var kind: String
  /// What becomes of what is delivered twice: `idempotent`, `byKey`, `atLeastOnce`; `nil` of a kind that is not known.
  var repetition: String?
  var state: State
  /// Changes of the record that it has not been given, is to be given again, or is to lose, at most; `nil` where nothing was
  /// ever delivered or asked for.
  var behind: Int?
  var lastAttempt: Timestamp?
  var lastSuccess: Timestamp?
  var failingSince: Timestamp?
  var failures: Int?
  var reason: String?
  /// When it is tried again.
  var nextAttempt: Timestamp?
  var pausedSince: Timestamp?
  var delivered: Int
  var refused: Int
  /// When it was last found to have lost something of what it was given.
  var lossNoticed: Timestamp?
  /// What that was, and what became of it.
  var loss: String?

  /// Those of the settings, and what is left of others, by name.
  ///
  /// - Parameter store: `nil` before the first import or pull.
  static func all(_ file: SettingsFile, _ store: HealthStore?) async throws -> [DestinationReport] {
    let positions = try await store?.consumers() ?? []
    let states = try await store?.deliveries.all() ?? []
    var reports: [DestinationReport] = []
    for section in file.destinations {
      var report = DestinationReport(
        section, behind: Resynchronization.behind(section.consumer, among: positions),
        states.first { $0.consumer == section.consumer })
      if report.state == .upToDate, let store,
        try await Resynchronization.hasOldNumbers(section.consumer, units: section.common.units, in: store)
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
