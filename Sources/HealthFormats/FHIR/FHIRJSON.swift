import HealthModel

/// JSON fragments that occur in many resources.
extension [UInt8] {
  /// Appends a coding: `{"system":…,"code":…,"display":…}`.
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

  /// Appends a `CodeableConcept` with its codes and a text for people.
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

  /// Appends the end of a `Quantity` after its value: `,"unit":…,"system":…,"code":…}`.
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

  /// Appends the `CodeableConcept` of a reason why a value is absent.
  mutating func append(absence code: String, display: String) {
    append("{\"coding\":[")
    append(coding: "http://terminology.hl7.org/CodeSystem/data-absent-reason", code, display: display)
    append("]}")
  }

  /// Appends the reason why a number is absent that is not finite and so has no FHIR decimal.
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
  /// Returns the codes of a type: those of the table, and the type's own name if it is a valid FHIR `code`.
  func codings(of type: SampleType, withTable: Bool = true) -> [Coding] {
    var codings = withTable ? self[type]?.codings ?? [] : []
    if FHIRText.isCode(type.rawValue) {
      let system = type.rawValue.utf8.starts(with: "HK".utf8) ? FHIRText.appleSystem : FHIRText.ownTypes
      codings.append(Coding(system: system, code: type.rawValue, display: Self.name(of: type)))
    }
    return codings
  }

  /// Returns the name of a type for people.
  static func name(of type: SampleType) -> String {
    SampleTypeCatalogue.healthKit[type]?.displayName ?? FHIRText.plain(type.rawValue) ?? "Unknown type"
  }
}
