import HealthModel
import Testing

@Suite("What people call types") struct TypeWordsTests {
  @Test(
    "a mistyped word is taken for what people say",
    arguments: [
      ("wieght", "bodyMass"), ("stpes", "stepCount"), ("hartrate", "heartRate"), ("blood presure", "bloodPressure"),
    ])
  func mistyped(text: String, first: String) { #expect(TypeWords.suggestions(for: text).first == first) }

  @Test("nothing is suggested for what is no neighbour of anything", arguments: ["xy", "zzzzzz", "", "q9"])
  func nothing(text: String) { #expect(TypeWords.suggestions(for: text).isEmpty) }

  @Test("case, spaces and hyphens do not matter", arguments: ["Heart-Rate", "heart rate", "HEARTRATE", "pulse", "HR"])
  func spelled(text: String) { #expect(TypeWords.types(text, held: []).map(\.shortName) == ["heartRate"]) }
}
