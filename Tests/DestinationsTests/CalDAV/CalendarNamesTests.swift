import Testing

@testable import Destinations

@Suite("Names of events") struct CalendarNamesTests {
  @Test(
    "only names that hpeer gives are taken from a listing, as a server's own may lead out of the collection",
    arguments: [
      ("hpeer-night-2024-06-15-ab12.ics", true), ("hpeer-3f0c9a52-0000-4000-8000-000000000001.ics", true),
      ("hpeer-/../../x.ics", false), ("hpeer-..ics", false), ("hpeer-A.ics", false), ("hpeer-a?b.ics", false),
      ("other.ics", false), ("hpeer-a.txt", false), ("hpeer-\u{212A}.ics", false),
      ("hpeer-\(String(repeating: "a", count: 300)).ics", false),
    ])
  func taken(name: String, isOurs: Bool) { #expect(CalendarCollection.isName(name) == isOurs) }
}
