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
    return words(rest)
  }

  /// `Asleep Core` out of `AsleepCore`, and `AB Negative` out of `ABNegative`.
  static func words(_ name: Substring) -> String {
    var words = ""
    for index in name.indices {
      let next = name.index(after: index)
      let begins = words.last?.isLowercase == true || (next < name.endIndex && name[next].isLowercase)
      if name[index].isUppercase, begins, !words.isEmpty { words.append(" ") }
      words.append(name[index])
    }
    return words
  }
}
