import HealthModel

/// Parts of resources that occur in many places, as JSON.
extension [UInt8] {
  /// `{"system":…,"code":…,"display":…}`.
  mutating func append(coding system: String, _ code: String, display: String?) {
    append("{\"system\":")
    append(quoted: system)
    append(",\"code\":")
    append(quoted: code)
    if let display {
      append(",\"display\":")
      append(quoted: display)
    }
    append("}")
  }

  /// A `CodeableConcept`: the codes, and a text for people.
  mutating func append(concept codings: [FHIRMap.Coding], text: String?) {
    append("{")
    if !codings.isEmpty {
      append("\"coding\":[")
      for (index, coding) in codings.enumerated() {
        if index > 0 { append(",") }
        append(coding: coding.system, coding.code, display: coding.display)
      }
      append("]")
      if text != nil { append(",") }
    }
    if let text {
      append("\"text\":")
      append(quoted: text)
    }
    append("}")
  }

  /// `,"unit":…,"system":…,"code":…}`: what of a `Quantity` comes after its value.
  mutating func append(unit: String?, ucum: String?) {
    if let unit {
      append(",\"unit\":")
      append(quoted: unit)
    }
    if let ucum {
      append(",\"system\":\"http://unitsofmeasure.org\",\"code\":")
      append(quoted: ucum)
    }
    append("}")
  }

  /// `{"coding":[…]}` of a code that says why there is no value.
  mutating func append(absence code: String, display: String) {
    append("{\"coding\":[")
    append(coding: "http://terminology.hl7.org/CodeSystem/data-absent-reason", code, display: display)
    append("]}")
  }

  /// The same for a number that FHIR has no decimal for.
  mutating func append(absenceOf number: Double) {
    if number.isNaN {
      append(absence: "not-a-number", display: "Not a Number (NaN)")
    } else if number > 0 {
      append(absence: "positive-infinity", display: "Positive Infinity (PINF)")
    } else {
      append(absence: "negative-infinity", display: "Negative Infinity (NINF)")
    }
  }
}

extension FHIRMap {
  /// The codes of a type: those of the table, and its own name, which every type has that FHIR's `code` can say.
  func codings(of type: SampleType, withTable: Bool = true) -> [Coding] {
    var codings = withTable ? self[type]?.codings ?? [] : []
    if FHIRText.isCode(type.rawValue) {
      let system = type.rawValue.utf8.starts(with: "HK".utf8) ? FHIRText.appleSystem : FHIRText.ownTypes
      codings.append(Coding(system: system, code: type.rawValue, display: Self.name(of: type)))
    }
    return codings
  }

  /// For people.
  static func name(of type: SampleType) -> String {
    SampleTypeCatalogue.healthKit[type]?.displayName ?? FHIRText.plain(type.rawValue) ?? "Unknown type"
  }
}
