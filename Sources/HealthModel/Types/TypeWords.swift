/// What people call types: their short names, HealthKit identifiers, names in words and common words for them, whatever the case,
/// and with or without spaces and hyphens.
///
/// ```swift
/// print(TypeWords.types("Heart-Rate", held: []).map(\.shortName))  // ["heartRate"]
/// print(TypeWords.suggestions(for: "wieght"))                      // bodyMass first
/// ```
public enum TypeWords {
  /// By words as ``normalized(_:)`` makes them: short names of the types that are meant.
  private static let common: [String: [String]] = [
    "steps": ["stepCount"], "step": ["stepCount"], "schritte": ["stepCount"],
    "weight": ["bodyMass"], "gewicht": ["bodyMass"], "fat": ["bodyFatPercentage"], "bodyfat": ["bodyFatPercentage"],
    "bmi": ["bodyMassIndex"], "waist": ["waistCircumference"],
    "hr": ["heartRate"], "pulse": ["heartRate"], "puls": ["heartRate"], "herzfrequenz": ["heartRate"],
    "rhr": ["restingHeartRate"], "restingpulse": ["restingHeartRate"], "ruhepuls": ["restingHeartRate"],
    "hrv": ["heartRateVariabilitySDNN"], "herzfrequenzvariabilitaet": ["heartRateVariabilitySDNN"],
    "bp": ["bloodPressure"], "blutdruck": ["bloodPressure"], "pressure": ["bloodPressure"],
    "systolic": ["bloodPressureSystolic"], "diastolic": ["bloodPressureDiastolic"],
    "glucose": ["bloodGlucose"], "bloodsugar": ["bloodGlucose"], "sugar": ["bloodGlucose", "dietarySugar"],
    "blutzucker": ["bloodGlucose"], "insulin": ["insulinDelivery"],
    "spo2": ["oxygenSaturation"], "oxygen": ["oxygenSaturation"], "sauerstoff": ["oxygenSaturation"],
    "temperature": ["bodyTemperature", "appleSleepingWristTemperature", "basalBodyTemperature"],
    "temp": ["bodyTemperature", "appleSleepingWristTemperature", "basalBodyTemperature"],
    "breathing": ["respiratoryRate"], "respiration": ["respiratoryRate"], "atemfrequenz": ["respiratoryRate"],
    "vo2": ["vo2Max"], "cardiofitness": ["vo2Max"],
    "sleep": ["sleepAnalysis"], "schlaf": ["sleepAnalysis"], "nights": ["sleepAnalysis"],
    "ecg": ["electrocardiogram"], "ekg": ["electrocardiogram"],
    "workouts": ["workout"], "training": ["workout"], "trainings": ["workout"], "route": ["workoutRoute"],
    "routes": ["workoutRoute"], "rings": ["activitySummary"], "activity": ["activitySummary"],
    "flights": ["flightsClimbed"], "stairs": ["flightsClimbed"], "floors": ["flightsClimbed"],
    "exercise": ["appleExerciseTime"], "stand": ["appleStandTime", "appleStandHour"],
    "energy": ["activeEnergyBurned", "basalEnergyBurned", "dietaryEnergyConsumed"],
    "calories": ["activeEnergyBurned", "basalEnergyBurned", "dietaryEnergyConsumed"],
    "activecalories": ["activeEnergyBurned"], "restingcalories": ["basalEnergyBurned"],
    "distance": ["distanceWalkingRunning", "distanceCycling", "distanceSwimming"],
    "water": ["dietaryWater"], "caffeine": ["dietaryCaffeine"], "mindfulness": ["mindfulSession"],
    "meditation": ["mindfulSession"], "period": ["menstrualFlow"], "daylight": ["timeInDaylight"],
  ]

  /// The types that a text may mean, in the order in which they are likely; several where it does not say which.
  ///
  /// - Parameter held: the types that the store knows, read from its file only for a text that the catalogue does not know.
  public static func types(_ text: String, held: @autoclosure () -> [SampleType]) -> [SampleType] {
    let catalogue = SampleTypeCatalogue.healthKit
    if let type = catalogue.type(named: text) { return [type] }
    // What only the store knows, as clinical records name theirs.
    let held = held()
    if let type = held.first(where: { $0.rawValue == text }) { return [type] }
    let wanted = normalized(text)
    if wanted.isEmpty { return [] }
    if let names = common[wanted] { return named(names) }
    let entry = catalogue.entries.first { entry in
      [entry.shortName, entry.displayName, entry.type.rawValue].contains { normalized($0) == wanted }
    }
    if let type = entry?.type ?? held.first(where: { normalized($0.rawValue) == wanted }) { return [type] }
    return []
  }

  /// The short names of types that a mistyped word may be for, best first; at most three.
  public static func suggestions(for text: String) -> [String] {
    let wanted = normalized(text)
    let names = common.keys.sorted() + SampleTypeCatalogue.healthKit.entries.map(\.shortName)
    var found: [String] = []
    for name in SimilarNames.suggestions(for: wanted, among: names, limit: 8) {
      for type in common[name] ?? [name] where !found.contains(type) { found.append(type) }
    }
    return Array(found.prefix(3))
  }

  /// `bloodpressure` for `Blood-Pressure`.
  static func normalized(_ text: String) -> String {
    let text = text.lowercased().replacing("ä", with: "ae").replacing("ö", with: "oe").replacing("ü", with: "ue")
    return String(text.unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil })
  }

  private static func named(_ names: [String]) -> [SampleType] {
    names.compactMap { SampleTypeCatalogue.healthKit.type(named: $0) }
  }
}
