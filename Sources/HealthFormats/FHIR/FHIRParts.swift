import Foundation
import HealthModel

/// Values and components of samples that are neither quantities nor categories.
struct FHIRParts {
  private let sample: Sample
  private let map: FHIRMap
  private let links: FHIRLinks

  init(_ sample: Sample, map: FHIRMap, links: FHIRLinks) {
    (self.sample, self.map, self.links) = (sample, map, links)
  }

  func append(members: [Sample], to body: inout FHIRBody) {
    var components = FHIRComponents()
    switch sample.payload {
    case .correlation where sample.type == FHIRWriter.bloodPressure: pressures(members, &components)
    case .correlation(let correlation): references(correlation, &body.parts)
    case .workout(let workout): self.workout(workout, &body.value, &components)
    case .electrocardiogram(let record): electrocardiogram(record, &body.value, &components)
    case .activitySummary(let summary): rings(summary, &components)
    case .audiogram(let audiogram): hearing(audiogram, &components)
    case .visionPrescription(let prescription): lenses(prescription, &components)
    case .characteristic(let characteristic): self.characteristic(characteristic.value, &body.value)
    case .category(let category): if let name = category.name { concept(name, to: &body.value) }
    case .quantity, .workoutRoute, .clinicalRecord, .unknown: break
    }
    components.append(to: &body.parts)
    if body.value.isEmpty, body.parts.isEmpty {
      body.value.append(",\"dataAbsentReason\":")
      body.value.append(absence: "unsupported", display: "Unsupported")
    }
  }

  /// Appends one of Apple's texts, as a code if it is a valid one.
  private func concept(_ text: String, display: String? = nil, to bytes: inout [UInt8]) {
    bytes.append(",\"valueCodeableConcept\":")
    let codings =
      FHIRText.isCode(text) && text.utf8.starts(with: "HK".utf8)
      ? [FHIRMap.Coding(system: FHIRText.appleSystem, code: text, display: display ?? FHIRPage.words(text))] : []
    bytes.append(concept: codings, text: codings.isEmpty ? FHIRText.plain(text) ?? "Unknown" : nil)
  }

  private func own(_ code: String, _ display: String) -> [FHIRMap.Coding] {
    [FHIRMap.Coding(system: FHIRText.ownCodes, code: code, display: display)]
  }

  private func loinc(_ code: String, _ display: String) -> FHIRMap.Coding {
    FHIRMap.Coding(system: FHIRText.loinc, code: code, display: display)
  }

  // MARK: Correlations

  /// Adds components for both pressures, even if a member is missing, because the profile requires both.
  private func pressures(_ members: [Sample], _ components: inout FHIRComponents) {
    for (type, key) in zip(FHIRWriter.pressures, ["systolic", "diastolic"]) {
      let codings = map.codings(of: type)
      let present = members.filter { $0.type == type }
      for member in present {
        if case .quantity(let quantity) = member.payload,
          FHIRQuantity(unit: quantity.unit, entry: map[type]).fitsCodes
        {
          components.add(codings, text: nil, extension: member, quantity, entry: map[type])
        } else {
          components.add(codings, text: nil, extension: member) { bytes in
            bytes.append("\"dataAbsentReason\":")
            bytes.append(absence: "error", display: "Error")
          }
        }
      }
      if !present.isEmpty { continue }
      // The values that HealthAppTransfer states for a correlation.
      switch sample.metadata["hpeer.correlation.\(key)"] {
      case .number(let number): components.add(codings, text: nil, Quantity(number, "mmHg"), entry: map[type])
      case .integer(let number): components.add(codings, text: nil, Quantity(Double(number), "mmHg"), entry: map[type])
      default:
        components.add(codings, text: nil) { bytes in
          bytes.append("\"dataAbsentReason\":")
          bytes.append(absence: "unknown", display: "Unknown")
        }
      }
    }
  }

  /// Appends references to the members, which are observations of their own.
  private func references(_ correlation: Correlation, _ bytes: inout [UInt8]) {
    if correlation.members.isEmpty { return }
    bytes.append(",\"hasMember\":[")
    for (index, member) in correlation.members.enumerated() {
      if index > 0 { bytes.append(",") }
      links.append(observation: member.uuid, to: &bytes)
    }
    bytes.append("]")
  }

  // MARK: Workouts

  private func workout(_ workout: Workout, _ value: inout [UInt8], _ components: inout FHIRComponents) {
    concept(workout.activityType.exported, display: FHIRText.plain(workout.activityType.displayName), to: &value)
    if let duration = workout.duration {
      components.add(
        [loinc("55411-3", "Exercise duration")], text: nil, Quantity(duration / 60, "min"), entry: nil)
    }
    for (name, total) in workout.totals.sorted(by: { $0.key < $1.key }) {
      let energy = SampleType("HKQuantityTypeIdentifierActiveEnergyBurned")
      let isEnergy = name == "totalEnergyBurned"
      components.add(
        (isEnergy ? map[energy]?.codings ?? [] : []) + own(code("HKWorkout.\(name)"), "Workout, \(name)"), text: nil,
        total, entry: isEnergy ? map[energy] : nil)
    }
    for statistics in workout.statistics { add(statistics, &components) }
    guard workout.activities.count > 1 else { return }
    for (index, leg) in workout.activities.enumerated() { self.leg(leg, index + 1, &components) }
  }

  /// Adds the duration and the statistics of a leg. The text of each component names the leg.
  private func leg(_ leg: WorkoutActivity, _ number: Int, _ components: inout FHIRComponents) {
    let name = "Leg \(number)"
    let codings = own("HKWorkoutActivity", "Leg of a workout")
    func add(_ what: String, _ quantity: Quantity) {
      components.add(codings, text: FHIRText.plain("\(name): \(what)"), quantity, entry: nil)
    }
    if let duration = leg.duration { add("duration", Quantity(duration / 60, "min")) }
    for statistics in leg.statistics {
      let unit = statistics.unit ?? SampleTypeCatalogue.healthKit[statistics.type]?.canonicalUnit ?? ""
      let numbers = [
        ("sum", statistics.sum), ("average", statistics.average), ("minimum", statistics.minimum),
        ("maximum", statistics.maximum),
      ]
      for case (let kind, let number?) in numbers {
        add("\(FHIRMap.name(of: statistics.type)), \(kind)", Quantity(number, unit))
      }
    }
  }

  private func add(_ statistics: WorkoutStatistics, _ components: inout FHIRComponents) {
    let unit = statistics.unit ?? SampleTypeCatalogue.healthKit[statistics.type]?.canonicalUnit ?? ""
    let entry = map[statistics.type]
    if let sum = statistics.sum {
      let fits = FHIRQuantity(unit: unit, entry: entry).fitsCodes
      components.add(
        map.codings(of: statistics.type, withTable: fits), text: FHIRMap.name(of: statistics.type),
        Quantity(sum, unit), entry: entry)
    }
    let others = [
      ("average", statistics.average), ("minimum", statistics.minimum), ("maximum", statistics.maximum),
    ]
    for case (let name, let number?) in others {
      components.add(
        own(code("\(statistics.type.rawValue).\(name)"), "\(FHIRMap.name(of: statistics.type)), \(name)"), text: nil,
        Quantity(number, unit), entry: entry)
    }
  }

  private func code(_ text: String) -> String { FHIRText.isCode(text) ? text : "other" }

  // MARK: Measurements of their own kind

  private func electrocardiogram(
    _ record: Electrocardiogram, _ value: inout [UInt8], _ components: inout FHIRComponents
  ) {
    if let classification = record.classification { concept(classification, to: &value) }
    if let rate = record.averageHeartRate {
      let type = SampleType("HKQuantityTypeIdentifierHeartRate")
      components.add(map.codings(of: type), text: nil, Quantity(rate, "count/min"), entry: map[type])
    }
    if let symptoms = record.symptoms.flatMap(FHIRText.plain) {
      components.add(own("HKElectrocardiogram.symptomsStatus", "Symptoms"), text: nil) { bytes in
        bytes.append("\"valueString\":")
        bytes.append(quoted: symptoms)
      }
    }
    guard let frequency = record.samplingFrequency, frequency > 0, frequency.isFinite, !record.voltages.isEmpty else {
      return
    }
    let lead = FHIRMap.Coding(
      system: "urn:oid:2.16.840.1.113883.6.24", code: "131329", display: "MDC_ECG_ELEC_POTL_I")
    components.add([lead], text: record.lead.flatMap(FHIRText.plain)) { bytes in
      bytes.append("\"valueSampledData\":{\"origin\":{\"value\":0")
      bytes.append(unit: record.unit.flatMap(FHIRText.plain), ucum: record.unit.flatMap(FHIRUnits.ucum))
      bytes.append(",\"period\":")
      bytes.append(number: 1000 / frequency)
      bytes.append(",\"dimensions\":1,\"data\":\"")
      for (index, voltage) in record.voltages.enumerated() {
        if index > 0 { bytes.append(" ") }
        bytes.append(sampled: voltage)
      }
      bytes.append("\"}")
    }
  }

  private func rings(_ summary: ActivitySummary, _ components: inout FHIRComponents) {
    let units = ["appleMoveTime": "min", "appleExerciseTime": "min", "appleStandHours": "hr"]
    for (name, text) in summary.attributes.sorted(by: { $0.key < $1.key }) {
      guard let number = Double(text), number.isFinite else { continue }
      let base = name.hasSuffix("Goal") ? String(name.dropLast(4)) : name
      components.add(
        own(code("HKActivitySummary.\(name)"), FHIRText.plain("Activity summary, \(name)") ?? name), text: nil,
        Quantity(number, summary.attributes["\(base)Unit"] ?? units[base] ?? "count"), entry: nil)
    }
  }

  private func hearing(_ audiogram: Audiogram, _ components: inout FHIRComponents) {
    for point in audiogram.points {
      for (side, ear) in [("left", point.left), ("right", point.right)] {
        guard let threshold = ear?.threshold else { continue }
        components.add(
          own("HKAudiogramSensitivityPoint.\(side)", "Hearing threshold, \(side) ear"),
          text: FHIRText.plain("Hearing threshold, \(side) ear, at \(point.frequency.value) \(point.frequency.unit)"),
          threshold, entry: nil)
      }
    }
  }

  private func lenses(_ prescription: VisionPrescription, _ components: inout FHIRComponents) {
    for (side, lens) in [("right", prescription.right), ("left", prescription.left)] {
      for (name, value) in (lens ?? [:]).sorted(by: { $0.key < $1.key }) {
        components.add(
          own(code("HKVisionPrescription.\(side).\(name)"), FHIRText.plain("Lens, \(side) eye, \(name)") ?? side),
          text: nil, value, entry: nil)
      }
    }
  }

  private func characteristic(_ value: String, _ bytes: inout [UInt8]) {
    if sample.type == Person.Trait.dateOfBirth.type, value.utf8.count == 10, let day = Timestamp(iso8601: value),
      FHIRText.canSay(day)
    {
      bytes.append(",\"valueDateTime\":")
      bytes.append(quoted: value)
    } else {
      concept(value, to: &bytes)
    }
  }
}

extension [UInt8] {
  /// Appends a number of a `SampledData`, which has no exponents; `E` stands for a number that is not valid.
  fileprivate mutating func append(sampled number: Double) {
    if number.appendWhole(to: &self) { return }
    guard number.isFinite else { return append("E") }
    let text = number.description
    guard text.utf8.contains(UInt8(ascii: "e")) else { return append(contentsOf: text.utf8) }
    // Values outside this range are not voltages.
    guard abs(number) < 1e15, abs(number) > 1e-30 else { return append(number.magnitude > 1 ? "E" : "0") }
    append(contentsOf: String(format: "%.40f", number).utf8)
  }
}
