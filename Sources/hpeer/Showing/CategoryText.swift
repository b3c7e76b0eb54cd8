import HealthModel

/// The value of a category in words, out of Apple's name for it.
enum CategoryText {
  /// `Asleep Core` out of `HKCategoryValueSleepAnalysisAsleepCore`; `nil` for a sample without a value.
  static func of(_ category: CategoryValue, _ type: SampleType) -> String? {
    guard let name = CategoryValueNames.healthKit.exported(category, type: type) else { return nil }
    guard name.hasPrefix("HKCategoryValue") else { return name }
    var rest = name.dropFirst("HKCategoryValue".count)
    // What the value is of, the type says already.
    let subject = type.rawValue.replacing("HKCategoryTypeIdentifier", with: "")
    if rest.hasPrefix(subject), rest.count > subject.count { rest = rest.dropFirst(subject.count) }
    return rest.reduce(into: "") { words, letter in
      if letter.isUppercase, words.last?.isLowercase == true { words.append(" ") }
      words.append(letter)
    }
  }
}
