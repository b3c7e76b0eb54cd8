/// How the metadata of a sample names what the model has no place for.
///
/// What is in an element that has no metadata is with that one's parent, and has the place in its name:
/// `MetadataEntry.HKTimeZone`, `WorkoutStatistics.HKQuantityTypeIdentifierHeartRate`, `Attachment#2`.
enum KeptName {
  static let attributePrefix = "hpeer.attribute."
  static let elementPrefix = "hpeer.element."

  /// The metadata key of an attribute; of one in a child, with the place and a full stop before its name.
  static func attribute(_ name: String) -> String { attributePrefix + name }

  /// The metadata key of an element.
  static func element(_ name: String) -> String { elementPrefix + name }

  /// The name of the `number`th element like this in another.
  static func place(_ name: String, _ number: Int) -> String { number > 1 ? "\(name)#\(number)" : name }
}
