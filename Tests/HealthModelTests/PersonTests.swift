import Foundation
import HealthModel
import Testing

@Suite struct PersonTests {
  private func person(_ birth: String?, _ sex: String? = nil, _ blood: String? = nil) -> Person {
    var person = Person()
    (person[.dateOfBirth], person[.biologicalSex], person[.bloodType]) = (birth, sex, blood)
    return person
  }

  @Test func whatWasNeverToldSaysNothing() {
    let untold = person("", "HKBiologicalSexNotSet", "HKBloodTypeNotSet")
    #expect(untold == Person())
    #expect(person(" \n")[.dateOfBirth] == nil)
    let known = person("1986-05-17", "HKBiologicalSexFemale", "HKBloodTypeONegative")
    #expect(untold.contradictions(to: known).isEmpty && known.contradictions(to: untold).isEmpty)
  }

  @Test func eachTraitThatBothTellMustAgree() {
    let known = person("1986-05-17", "HKBiologicalSexFemale", "HKBloodTypeONegative")
    #expect(known.contradictions(to: known).isEmpty)
    #expect(person("1987-05-17").contradictions(to: known) == [.dateOfBirth])
    #expect(person("1986-05-17", "HKBiologicalSexMale").contradictions(to: known) == [.biologicalSex])
    #expect(person(nil, nil, "HKBloodTypeAPositive").contradictions(to: known) == [.bloodType])
    #expect(person("1987-05-17", "HKBiologicalSexMale", "x").contradictions(to: known) == Person.Trait.allCases)
  }

  @Test(arguments: [
    ("1986-05-17 ", "1986-05-17"), ("1986-05-17T00:00:00Z", "1986-05-17"), ("1986-05-17 00:00:00 +0200", "1986-05-17"),
    ("1986-13-17T", "1986-13-17T"), ("17.05.1986", "17.05.1986"), ("1990", "1990"),
  ])
  func aBirthdayIsADay(text: String, told: String) {
    #expect(person(text)[.dateOfBirth] == told)
  }

  @Test func theYearIsDigits() {
    #expect(person("1986-05-17").yearOfBirth == "1986")
    #expect(person("17.05.1986").yearOfBirth == nil)
    #expect(person("\u{1B}[2J").yearOfBirth == nil)
    #expect(Person().yearOfBirth == nil)
  }

  private func reading(_ birth: String, created: Int64?) -> Sample {
    Sample(
      uuid: UUID(), type: Person.Trait.dateOfBirth.type, start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      created: created.map { Timestamp(seconds: $0) }, source: Source(name: "Health"),
      payload: .characteristic(CharacteristicValue(value: birth)))
  }

  @Test func ofSeveralReadingsTheNewestCountsInWhateverOrder() {
    let readings = [
      reading("1986-05-17", created: 10), reading("1987-01-01", created: 20), reading("1999-09-09", created: nil),
      reading("1985-01-01", created: 20),
    ]
    for order in [readings, readings.reversed()] {
      var person = PersonReadings()
      for reading in order { person.add(reading) }
      #expect(person.person[.dateOfBirth] == "1987-01-01")
    }
  }

  @Test func whatIsNoCharacteristicIsNone() {
    var sample = reading("1986-05-17", created: 1)
    sample.payload = .unknown(kind: "characteristics", content: .null)
    var readings = PersonReadings()
    readings.add(sample)
    sample = reading("x", created: 1)
    sample.type = SampleType("HKCharacteristicTypeIdentifierFitzpatrickSkinType")
    readings.add(sample)
    #expect(readings.person == Person())
  }
}
