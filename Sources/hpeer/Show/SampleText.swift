import HealthModel
import HealthStore
import Terminal

/// The text for a sample, on one line.
struct SampleText {
  var units = UnitChoice()
  /// Whether numbers keep twelve significant digits and units their names, for programs.
  var isExact = false

  /// Returns the text for a sample.
  ///
  /// - Parameter members: The members of a correlation that the store has.
  func of(_ sample: Sample, members: [Sample]) -> String {
    switch sample.payload {
    case .quantity(let quantity): text(units.quantity(quantity, of: sample.type), of: sample.type)
    case .category(let category):
      PlainText.escaped(CategoryText.of(category, sample.type) ?? "-", limit: 100)
    case .workout(let workout): text(workout)
    case .correlation(let correlation): text(correlation, members)
    case .characteristic(let value): PlainText.escaped(CharacteristicText.of(value, sample.type), limit: 100)
    case .activitySummary(let summary):
      isExact
        ? summary.attributes.sorted { $0.key < $1.key }
          .map { "\(PlainText.escaped($0.key))=\(PlainText.escaped($0.value))" }.joined(separator: " ")
        : text(summary)
    case .workoutRoute(let route): HumanFormat.count(route.points.count, "point")
    case .electrocardiogram(let electrocardiogram):
      PlainText.escaped(electrocardiogram.classification ?? "-", limit: 100)
        + (electrocardiogram.averageHeartRate.map { " \(HumanFormat.number($0)) count/min" } ?? "")
        + " \(HumanFormat.count(electrocardiogram.voltages.count, "voltage"))"
    case .audiogram(let audiogram): HumanFormat.count(audiogram.points.count, "frequency", "frequencies")
    case .visionPrescription(let prescription): text(prescription)
    case .clinicalRecord(let record): PlainText.escaped(record.path ?? record.identifier, limit: 100)
    default: PlainText.escaped(sample.payload.kind)
    }
  }

  private func text(_ quantity: Quantity, of type: SampleType? = nil) -> String {
    let unit = MolarUnit.short(quantity.unit)
    // HealthKit's percentages are fractions; those of apps are not.
    var quantity = quantity
    if unit == "%", type.map(AppReadings.isOwnType) ?? false { quantity.value /= 100 }
    if isExact {
      return unit == "%"
        ? "\(HumanFormat.number(quantity.value * 100)) %"
        : "\(HumanFormat.number(quantity.value)) \(PlainText.escaped(unit))"
    }
    return NumberText(unit: unit.isEmpty ? nil : unit, aggregation: .discrete).withUnit(quantity.value)
  }

  /// Returns the rings, each with its goal.
  private func text(_ summary: ActivitySummary) -> String {
    let rings = [
      ("move", "activeEnergyBurned", "activeEnergyBurnedGoal", summary.attributes["activeEnergyBurnedUnit"] ?? "kcal"),
      ("move", "appleMoveTime", "appleMoveTimeGoal", "min"),
      ("exercise", "appleExerciseTime", "appleExerciseTimeGoal", "min"),
      ("stand", "appleStandHours", "appleStandHoursGoal", "hr"),
    ].compactMap { name, key, goal, unit -> String? in
      guard let value = summary.attributes[key].flatMap({ Double($0) }), value.isFinite, value > 0 else { return nil }
      let text = NumberText(unit: unit, aggregation: .cumulative)
      guard let aim = summary.attributes[goal].flatMap({ Double($0) }), aim.isFinite, aim > 0 else {
        return "\(name) \(text.withUnit(value))"
      }
      return "\(name) \(text.number(value))/\(text.withUnit(aim))"
    }
    return rings.isEmpty ? "no ring" : rings.joined(separator: ", ")
  }

  private func text(_ workout: Workout) -> String {
    let ways = workout.statistics.lazy.filter { $0.type.rawValue.contains("Distance") }
    let type = ways.first?.type ?? SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
    let distance =
      workout.totals["totalDistance"]
      ?? ways.compactMap { statistics in
        statistics.sum.flatMap { sum in statistics.unit.map { Quantity(sum, $0) } }
      }.first
    // A distance that is only given as a total keeps its own unit: swimmers count metres.
    let isPlain = workout.totals["totalDistance"] != nil && ways.isEmpty
    return [
      PlainText.escaped(workout.activityType.displayName, limit: 100),
      workout.duration.flatMap(duration),
      distance.map { text(units.quantity($0, of: type, isSaidSo: isPlain)) },
    ].compactMap(\.self).joined(separator: " ")
  }

  /// Returns a duration, or `nil` if it is implausible: a workout may come from any sender.
  private func duration(_ seconds: Double) -> String? {
    (0..<0x1p40).contains(seconds) ? HumanFormat.duration(.seconds(seconds)) : nil
  }

  private func text(_ correlation: Correlation, _ members: [Sample]) -> String {
    let quantities = members.compactMap { member -> (name: String, quantity: Quantity)? in
      guard case .quantity(let quantity) = member.payload else { return nil }
      return (member.type.shortName, units.quantity(quantity, of: member.type))
    }
    guard !quantities.isEmpty, quantities.count == correlation.members.count else {
      return HumanFormat.count(correlation.members.count, "member")
    }
    let values = Dictionary(quantities.map { ($0.name, $0.quantity) }, uniquingKeysWith: { first, _ in first })
    if quantities.count == 2, let systolic = values["bloodPressureSystolic"],
      let diastolic = values["bloodPressureDiastolic"], systolic.unit == diastolic.unit
    {
      return "\(HumanFormat.number(systolic.value))/\(text(diastolic))"
    }
    let shown = 3
    let texts = quantities.prefix(shown).map { "\(PlainText.escaped($0.name)) \(text($0.quantity))" }
    let rest = quantities.count > shown ? " and \(quantities.count - shown) more" : ""
    return texts.joined(separator: ", ") + rest
  }

  private func text(_ prescription: VisionPrescription) -> String {
    let eyes = [("right", prescription.right), ("left", prescription.left)].compactMap { side, eye in
      eye.map { eye in
        "\(side) "
          + eye.sorted { $0.key < $1.key }.map { "\(PlainText.escaped($0.key))=\(text($0.value))" }
          .joined(separator: " ")
      }
    }
    return (eyes + [prescription.brand.map { PlainText.escaped($0, limit: 100) }].compactMap(\.self))
      .joined(separator: ", ")
  }
}

extension HealthStore {
  /// Returns the members of a correlation that are in the store; none for any other sample.
  func members(of sample: Sample) async throws -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members {
      if let member = try await samples.sample(reference) { members.append(member) }
    }
    return members
  }
}

/// The text for the value of a category, made from Apple's name for it.
enum CategoryText {
  /// Returns `Asleep Core` for `HKCategoryValueSleepAnalysisAsleepCore`; `nil` for a sample without a value.
  static func of(_ category: CategoryValue, _ type: SampleType) -> String? {
    guard let name = CategoryValueNames.healthKit.exported(category, type: type) else { return nil }
    guard name.hasPrefix("HKCategoryValue") else { return name }
    var rest = name.dropFirst("HKCategoryValue".count)
    // The type already says what the value is about.
    let subject = type.rawValue.replacing("HKCategoryTypeIdentifier", with: "")
    if rest.hasPrefix(subject), rest.count > subject.count { rest = rest.dropFirst(subject.count) }
    return words(rest)
  }

  /// Returns the words of a name: `Asleep Core` for `AsleepCore`, and `AB Negative` for `ABNegative`.
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

/// The text for a characteristic, made from Apple's name for it.
enum CharacteristicText {
  /// Returns `Female` for `HKBiologicalSexFemale`. Other values are returned as they are.
  static func of(_ characteristic: CharacteristicValue, _ type: SampleType) -> String {
    // The type already says what the value is about.
    let subject = "HK" + type.rawValue.replacing("HKCharacteristicTypeIdentifier", with: "")
    let name = characteristic.value
    guard name.hasPrefix(subject), name.count > subject.count else { return name }
    return CategoryText.words(name.dropFirst(subject.count))
  }
}
