import GRDB
import HealthModel

/// What a sample says, as far as it takes to tell whether another that came by another road says the same.
///
/// An export prints six digits of a value, in the display unit of the day, and no app sends more than an export has.
enum StatedValue: Hashable {
  case quantity(Quantity)
  case category(Double)
  case workout(WorkoutActivityType)
  /// Of a kind of which a source has one at a time: see ``SamplePayload/isUniqueAtItsTime``.
  case only
  case other(String?)

  /// What HealthSync calls all but five kinds of workouts; a source has one workout at a time, whatever it is called.
  private static let any = WorkoutActivityType.value(3000)

  /// - Parameter payload: read only where it decides.
  init(kind: String, number: Double?, unit: String?, payload: () -> String?) throws {
    switch kind {
    case "quantity": self = .quantity(Quantity(number ?? .nan, unit ?? ""))
    case "category": self = number.map(Self.category) ?? .other(payload())
    case "workout":
      self = try payload().map { .workout(try StoreJSON.decode(Workout.self, $0).activityType) } ?? .other(nil)
    case _ where Payload.contentType(ofKind: kind)?.isUniqueAtItsTime == true: self = .only
    default: self = .other(payload())
    }
  }

  func isEquivalent(to other: StatedValue) -> Bool {
    switch (self, other) {
    case (.quantity(let mine), .quantity(let theirs)): mine.isEquivalent(to: theirs)
    case (.workout(let mine), .workout(let theirs)): mine == theirs || Self.isAny(mine) || Self.isAny(theirs)
    default: self == other
    }
  }

  /// Health Auto Export names activities in the phone's language.
  private static func isAny(_ activity: WorkoutActivityType) -> Bool {
    if case .name(let name) = activity { !name.hasPrefix("HKWorkoutActivityType") } else { activity == any }
  }
}
