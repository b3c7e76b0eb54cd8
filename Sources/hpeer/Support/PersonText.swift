import HealthModel
import HealthOperations
import Terminal

/// The texts about a person that are shown at this machine.
enum PersonText {
  /// Returns the owner of a record as far as a passer-by may know; `nil` if the record has no date of birth.
  static func owner(_ person: Person) -> String? {
    person.yearOfBirth.map { "The record of a person born in \($0)." }
  }

  /// Returns the contradictions, such as `date of birth 1987-03-01 where this store says 1986-05-17`.
  static func differences(_ contradiction: PersonContradiction) -> String {
    let texts = contradiction.traits.map { trait in
      "\(name(trait)) \(value(trait, of: contradiction.person)) where this store says "
        + "\(value(trait, of: contradiction.own))"
    }
    return texts.count < 3
      ? texts.joined(separator: " and ") : texts.dropLast().joined(separator: ", ") + " and \(texts[texts.count - 1])"
  }

  private static func name(_ trait: Person.Trait) -> String {
    switch trait {
    case .dateOfBirth: "date of birth"
    case .biologicalSex: "sex"
    case .bloodType: "blood type"
    }
  }

  private static func value(_ trait: Person.Trait, of person: Person) -> String {
    let text = person[trait] ?? "nothing"
    let readable =
      switch trait {
      case .dateOfBirth: text
      case .biologicalSex: text.replacing("HKBiologicalSex", with: "").lowercased()
      case .bloodType:
        text.replacing("HKBloodType", with: "").replacing("Positive", with: "+").replacing("Negative", with: "-")
      }
    return PlainText.escaped(readable, limit: 40)
  }
}
