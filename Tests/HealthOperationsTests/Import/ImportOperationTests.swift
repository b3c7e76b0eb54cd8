import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import Synchronization
import Testing

@Suite struct ImportOperationTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  @Test func theSameAgainAddsNothingAndTheAuditLogHasBoth() async throws {
    let path = try home.file("export.xml", AppleExportText(heartRates: 5).text)
    let first = try await home.importer(path).run(into: home.store)
    #expect(first.summary.added == 5)
    #expect(first.read == [AppleExportText.heartRate: 5])
    let second = try await home.importer(path).run(into: home.store)
    #expect(second.earlier?.name == "export.xml")
    #expect(second.summary.added == 0)
    #expect(try await home.count() == 5)
    let events = try await home.audited()
    #expect(events.map(\.event) == ["import.started", "import", "import.started", "import"])
    #expect(
      events[1].detail
        == ["file": "export.xml", "added": "5", "unchanged": "0", "deleted": "0", "complete": "true"])
    #expect(events[3].detail["added"] == "0")
    #expect(events[3].detail["complete"] == "true")
  }

  @Test("a file with more types than any record is refused before they are in the store")
  func manyTypes() async throws {
    let samples = (0...10_000).map { number in
      #"""
      {"uuid":"\#(UUID().uuidString)","type":"made.up\#(number)","start":"2024-06-15T08:00:00Z","end":"2024-06-15T08:00:00Z",
      "source":{"name":"Watch"},"kind":"quantity","payload":{"unit":"count","value":1}}
      """#
    }
    let path = try home.file(
      "samples.json", #"{"format":"hpeer","version":1,"samples":[\#(samples.joined(separator: ","))]}"#)
    await #expect(throws: ImportError.tooManyTypes(limit: 10_000)) {
      try await home.importer(path).run(into: home.store)
    }
    #expect(try await home.store.samples.typeCounts().count <= 10_000)
  }

  @Test func aLaterExportAddsWhatIsNew() async throws {
    try await home.fill(5)
    let result = try await home.importer(try home.file("later.xml", AppleExportText(heartRates: 7).text))
      .run(into: home.store)
    #expect(result.summary.added == 2)
    #expect(result.summary.unchanged == 5)
  }

  @Test func whatAnExportDoesNotTellOfThePersonStaysAsItWas() async throws {
    let told = AppleExportText(heartRates: 1, dateOfBirth: "1987-03-01").text
    let later = told.replacing("HKBiologicalSexFemale", with: "HKBiologicalSexNotSet")
      .replacing("2024-07-01", with: "2024-08-01")
    for (name, text) in [("export.xml", told), ("later.xml", later)] {
      _ = try await home.importer(try home.file(name, text)).run(into: home.store)
    }
    let sex = try await home.store.samples.page(of: SampleType("HKCharacteristicTypeIdentifierBiologicalSex"), limit: 9)
    #expect(sex.map(\.payload) == [.characteristic(CharacteristicValue(value: "HKBiologicalSexFemale"))])
  }

  @Test func aDryRunSaysWhatWouldHappenAndLeavesNothing() async throws {
    let path = try home.file("export.xml", AppleExportText(heartRates: 5).text)
    let before = try home.names()
    var options = ImportOptions()
    options.isDryRun = true
    let result = try await home.importer(path, options).run(into: home.store)
    #expect(result.summary.added == 5)
    #expect(try await home.store.isEmpty())
    #expect(try await home.audited().isEmpty)
    #expect(try home.names().subtracting(before).filter { $0.contains("dry-run") }.isEmpty)
  }

  @Test func dryRunsAtOnceDoNotDisturbEachOther() async throws {
    let path = try home.file("export.xml", AppleExportText(heartRates: 5).text)
    var options = ImportOptions()
    options.isDryRun = true
    let operation = try await home.importer(path, options)
    let added = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { [home] in try await operation.run(into: home.store).summary.added } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(added == [5, 5, 5, 5])
    #expect(try await home.store.isEmpty())
  }

  @Test func whatALaterDryRunFindsOfOneThatWasKilledIsRemoved() async throws {
    // No process has this number: the kernel's limit is lower.
    let leftOver = home.home.directory + "/dry-run-2000000000"
    try FileManager.default.createDirectory(atPath: leftOver, withIntermediateDirectories: false)
    var options = ImportOptions()
    options.isDryRun = true
    let path = try home.file("export.xml", AppleExportText(heartRates: 1).text)
    _ = try await home.importer(path, options).run(into: home.store)
    #expect(!FileManager.default.fileExists(atPath: leftOver))
  }

  // MARK: Persons

  private func fillForOneAndComeWithAnother() async throws -> String {
    let own = try home.file("own.xml", AppleExportText(heartRates: 2, dateOfBirth: "1987-03-01").text)
    _ = try await home.importer(own).run(into: home.store)
    return try home.file("other.xml", AppleExportText(heartRates: 9, dateOfBirth: "1990-10-11").text)
  }

  @Test func anotherPersonIsRefusedWhereNobodyCanBeAsked() async throws {
    let path = try await fillForOneAndComeWithAnother()
    let operation = try await home.importer(path)
    let error = try await #require(throws: ImportRefusal.self) { try await operation.run(into: home.store) }
    guard case .anotherPerson(let contradiction) = error else {
      Issue.record("another refusal: \(error)")
      return
    }
    #expect(contradiction.traits == [.dateOfBirth])
    #expect(contradiction.own[.dateOfBirth] == "1987-03-01")
    #expect(contradiction.person[.dateOfBirth] == "1990-10-11")
    #expect(try await home.count() == 2)
  }

  @Test(arguments: [false, true])
  func anotherPersonIsAskedAbout(isTheSame: Bool) async throws {
    let path = try await fillForOneAndComeWithAnother()
    let asked = Asked(answer: isTheSame)
    let operation = try await home.importer(path) { asked.confirm($0) }
    if isTheSame {
      #expect(try await operation.run(into: home.store).mergedPersons)
      #expect(try await home.count() == 9)
      #expect(try await home.audited().last?.detail["person"] == "merged")
    } else {
      await #expect(throws: ImportRefusal.self) { try await operation.run(into: home.store) }
      #expect(try await home.count() == 2)
      #expect(try await home.auditedNames().last == "import.started")
    }
    #expect(asked.questions.map(\.traits) == [[.dateOfBirth]])
  }

  // MARK: Refusals and progress

  @Test func onlyAnAppleExportIsASnapshot() async throws {
    try await home.fill(1)
    let path = home.directory.path("samples.json")
    _ = try await ExportOperation(.json, to: .file(path: path, replaces: false)).run(from: home.store)
    var options = ImportOptions()
    options.isSnapshot = true
    await #expect(throws: ImportRefusal.noSnapshot(file: "samples.json")) {
      try await home.importer(path, options)
    }
  }

  @Test func aSnapshotIsOneAgainAfterAnotherExport() async throws {
    let newest = try home.file("newest.xml", AppleExportText(heartRates: 30).text)
    let older = try home.file("older.xml", AppleExportText(heartRates: 31).text)
    var options = ImportOptions()
    options.isSnapshot = true
    for (path, options, count) in [(newest, options, 30), (older, ImportOptions(), 31), (newest, options, 30)] {
      _ = try await home.importer(path, options).run(into: home.store)
      #expect(try await home.count() == count, "\(path)")
    }
  }

  @Test func eachStageEnds() async throws {
    let stages = StageRecorder()
    let path = try home.file("export.xml", AppleExportText(heartRates: 3).text)
    _ = try await home.importer(path, progress: stages).run(into: home.store)
    #expect(stages.begun.map(\.work) == [.checking, .importing])
    #expect(stages.finished == 2)
  }

  @Test func whatIsCancelledIsInTheLogAsBegun() async throws {
    let path = try home.file("export.xml", AppleExportText(heartRates: 3).text)
    let operation = try await home.importer(path)
    let task = Task { [home] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.run(into: home.store)
    }
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await home.store.isEmpty())
    #expect(try await !home.auditedNames().contains("import"))
    #expect(try await home.importer(path).run(into: home.store).summary.added == 3)
  }
}

/// A simulated person who gives the same answer to every question.
private final class Asked: Sendable {
  private let answer: Bool
  private let asked = Mutex<[PersonContradiction]>([])

  init(answer: Bool) { self.answer = answer }

  var questions: [PersonContradiction] { asked.withLock { $0 } }

  func confirm(_ contradiction: PersonContradiction) -> Bool {
    asked.withLock { $0.append(contradiction) }
    return answer
  }
}
