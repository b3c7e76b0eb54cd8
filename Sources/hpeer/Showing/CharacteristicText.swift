import HealthModel

/// A characteristic in words, out of Apple's name for it.
enum CharacteristicText {
  /// `Female` out of `HKBiologicalSexFemale`, and what has no such name as it is.
  static func of(_ characteristic: CharacteristicValue, _ type: SampleType) -> String {
    // What the value is of, the type says already.
    let subject = "HK" + type.rawValue.replacing("HKCharacteristicTypeIdentifier", with: "")
    let name = characteristic.value
    guard name.hasPrefix(subject), name.count > subject.count else { return name }
    return CategoryText.words(name.dropFirst(subject.count))
  }
}
