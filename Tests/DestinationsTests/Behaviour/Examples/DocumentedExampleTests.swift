import Foundation
import TestSupport
import Testing

@testable import Destinations

/// Tests that the code in docs/how-to/adding-a-destination.md is the code that is compiled here and covered by the
/// behaviour tests.
@Suite("the documented example")
struct DocumentedExampleTests {
  private static let here = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("its code in the document is that of these files, and the suite runs over it")
  func isTheSame() throws {
    let page = Self.here.appending(path: "../../../../docs/how-to/adding-a-destination.md").standardized
    let text = try String(contentsOf: page, encoding: .utf8)
    let blocks = text.matches(of: #/`(\w+\.swift)`:\n\n```swift\n((?s:.*?))```\n/#)
    #expect(blocks.map { String($0.1) } == ["FilesDestination.swift", "FilesHarness.swift"])
    for block in blocks {
      let file = try String(contentsOf: Self.here.appending(path: String(block.1)), encoding: .utf8)
      #expect(file == String(block.2), "docs/how-to/adding-a-destination.md has another \(block.1)")
    }
    #expect(DestinationHarnesses.all.contains { $0.testDescription == "files" })
  }

  @Test("it says what is wrong with a folder that cannot be written to")
  func check() async throws {
    let directory = try TemporaryDirectory()
    let settings = try DestinationSettings(
      name: "shelf", ["folder": .text(directory.path("none"))], of: FilesDestination.description)
    let place = try FilesDestination(settings, in: try DestinationHome().environment())
    let reason = "no file can be written to \(directory.path("none"))"
    #expect(throws: DeliveryError.unusable(reason: reason)) { try place.check() }
    try FileManager.default.createDirectory(atPath: directory.path("none"), withIntermediateDirectories: false)
    try place.check()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("none")) == [])
  }
}
