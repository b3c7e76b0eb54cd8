import GRDB
import HealthModel

/// The value of a sample, as far as needed to decide whether a sample that came by another road has the same content.
///
/// An export prints six digits of a value, in the display unit of that day, and no app sends more than an export has.
enum StatedValue: Hashable {
  case quantity(Quantity)
  case category(Double)
  case workout(WorkoutActivityType)
  /// A value of a kind of which a source has only one at a time: see ``SamplePayload/isUniqueAtItsTime``.
  case only
  case other(String?)

  /// The activity type that HealthSync uses for all but five kinds of workouts. A source has one workout at a time,
  /// whatever its type.
  private static let any = WorkoutActivityType.value(3000)

  /// Creates the value of a sample. `payload` is called only if it matters.
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

  /// Returns whether an activity type may stand for any other. Health Auto Export uses names in the phone's language.
  private static func isAny(_ activity: WorkoutActivityType) -> Bool {
    if case .name(let name) = activity { !name.hasPrefix("HKWorkoutActivityType") } else { activity == any }
  }
}
