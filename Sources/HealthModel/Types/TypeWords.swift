/// The words by which people name sample types: short names, HealthKit identifiers, display names and common words,
/// in any case and with or without spaces and hyphens.
///
/// ```swift
/// print(TypeWords.types("Heart-Rate", held: []).map(\.shortName))  // ["heartRate"]
/// print(TypeWords.suggestions(for: "wieght"))                      // bodyMass first
/// ```
public enum TypeWords {
  /// The short names of types by the common words for them, as ``normalized(_:)`` spells these.
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

  /// Returns the types that a text may mean, most likely first. There are several if the text is ambiguous.
  ///
  /// - Parameter held: the types in the store, read only if the catalogue does not know the text.
  public static func types(_ text: String, held: @autoclosure () -> [SampleType]) -> [SampleType] {
    let catalogue = SampleTypeCatalogue.healthKit
    if let type = catalogue.type(named: text) { return [type] }
    // Some types exist only in the store, such as those of clinical records.
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

  /// Returns up to three short names that a mistyped word may mean, best first.
  public static func suggestions(for text: String) -> [String] {
    let wanted = normalized(text)
    let names = common.keys.sorted() + SampleTypeCatalogue.healthKit.entries.map(\.shortName)
    var found: [String] = []
    for name in SimilarNames.suggestions(for: wanted, among: names, limit: 8) {
      for type in common[name] ?? [name] where !found.contains(type) { found.append(type) }
    }
    return Array(found.prefix(3))
  }

  /// Returns the text in lower case without spaces and punctuation: `bloodpressure` for `Blood-Pressure`.
  static func normalized(_ text: String) -> String {
    let text = text.lowercased().replacing("ä", with: "ae").replacing("ö", with: "oe").replacing("ü", with: "ue")
    return String(text.unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil })
  }

  private static func named(_ names: [String]) -> [SampleType] {
    names.compactMap { SampleTypeCatalogue.healthKit.type(named: $0) }
  }
}
