import HealthModel
import HealthStore
import TestSupport
import Testing

@Suite struct AnalysisSettingsTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")

  @Test func whatIsDecidedIsKeptAndWrittenDown() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    #expect(try await store.settings.current() == AnalysisSettings())
    try await store.settings.setHomeZone("Europe/Berlin")
    try await store.settings.setFirstSource("Casey's iPhone", of: Self.steps)
    try await store.settings.setFirstSource("Scale", of: SampleType("hae.unheard_of"))
    let settings = try await HealthStore(directory: directory.path).settings.current()
    #expect(settings.homeZone == "Europe/Berlin")
    #expect(settings.firstSources == [Self.steps: "Casey's iPhone", SampleType("hae.unheard_of"): "Scale"])
    #expect(try await store.samples.numbers { try $0.settings() } == settings)

    // The same again is no decision.
    try await store.settings.setHomeZone("Europe/Berlin")
    try await store.settings.setFirstSource(nil, of: Self.steps)
    try await store.settings.setHomeZone(nil)
    try await store.settings.setHomeZone(nil)
    #expect(try await store.settings.current().homeZone == nil)
    let details = try await store.audit.records().filter { $0.event == "setting.changed" }.map(\.detail)
    #expect(details.count == 5)
    #expect(details.first == ["setting": "homeZone", "to": "Europe/Berlin"])
    #expect(details[3] == ["setting": "firstSource", "type": Self.steps.rawValue, "from": "Casey's iPhone"])
    #expect(details.last == ["setting": "homeZone", "from": "Europe/Berlin"])
    #expect(try await store.audit.verify() == .intact(rows: 5))
  }
}
