import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that a notice names the line of the element that it is about, in the XML or in the file that it names.
@Suite struct LineNumberTests {
  /// The line ends and other details of a file's text.
  struct Form: CustomStringConvertible {
    var ending = "\n"
    var mark = ""
    var header = ExportText([]).header

    var description: String { "\(ending.utf8.count) bytes end a line, \(header.count) before the root, \(mark)" }

    static let all = [
      Form(), Form(ending: "\r\n"), Form(mark: "\u{FEFF}"), Form(ending: "\r\n", mark: "\u{FEFF}", header: ""),
      Form(
        header:
          "<?xml version=\"1.0\"?>\n\n<!DOCTYPE HealthData [\n<!-- HealthKit Export Version: 12\n<HealthData\n-->\n"
          + "<!ATTLIST Record\n  type CDATA #REQUIRED\n\n" + String(repeating: "<!-- \n -->\n", count: 100) + "]>\n\n"),
    ]

    func write(_ text: String) -> [UInt8] { Array((mark + text.replacing("\n", with: ending)).utf8) }
  }

  /// A text in the line of each finding, which doesn't occur on earlier lines.
  private let expected = [
    "Record with an unknown attribute odd": "\"1\" odd=", "Record without a startDate": "\"first\"",
    "metadata key given twice": "\"twice\"", "WorkoutEvent with an unreadable date": "<WorkoutEvent",
    "WorkoutEvent with an unknown attribute odd": "<WorkoutEvent date=\"2024",
    "Workout/Future is unknown": "<Future", "MetadataEntry with an unknown attribute odd": "key=\"entry\"",
    "WorkoutRoute whose file is missing": "none.gpx", "WorkoutRoute without a startDate": "<WorkoutRoute>",
    "Record/Other is unknown": "<Other", "ClinicalRecord whose file is missing": "<ClinicalRecord",
    "decimal comma": "\"7,5\"",
  ]

  private var body: String {
    let date = "startDate=\"\(ExportText.date(0))\""
    let heartRate = "type=\"\(ExportText.heartRate)\" unit=\"count/min\""
    return """
      <Record \(heartRate) sourceName="W" value="1" odd="x"
        \(date)

        endDate="\(ExportText.date(1))"/>
      \(ExportText.record(at: 2))
      <Record type="first"
        sourceName="W"/>


      <Record \(heartRate) sourceName="twice" value="1" startDate="\(ExportText.date(3))">
        <MetadataEntry key="k" value="1"/>
        <MetadataEntry key="k" value="2"/>
      </Record>
      \(ExportText.record(at: 5, value: "7,5"))
      <Record \(heartRate) sourceName="W" value="1" startDate="\(ExportText.date(4))">
        <Other>
          <Inner/>
        </Other>
      </Record>
      <Workout workoutActivityType="x" sourceName="W" \(date)>
        <MetadataEntry key="plain" value="1"/>
        <WorkoutEvent date="soon"/>
        <WorkoutEvent date="\(ExportText.date(0))" odd="1">
          <MetadataEntry key="plain" value="1"/>
        </WorkoutEvent>
        <MetadataEntry key="entry" value="1" odd="1"/>
        <Future
          a="1">
          <Inner/>
        </Future>
        <WorkoutRoute>
          <MetadataEntry key="plain" value="1"/>

          <FileReference path="/workout-routes/none.gpx"/>
          <MetadataEntry key="more" value="1"/>
        </WorkoutRoute>
        <MetadataEntry key="more" value="1"/>
      </Workout>
      <ClinicalRecord type="HKClinicalTypeIdentifierLabResultRecord" identifier="i" sourceName="C"
        receivedDate="\(ExportText.date(0))" resourceFilePath="/clinical-records/none.json">
        <MetadataEntry key="more" value="1"/>
      </ClinicalRecord>
      """
  }

  private func line(of text: String, in bytes: [UInt8]) throws -> Int {
    let found = try #require(bytes.firstRange(of: Array(text.utf8)), "\(text)")
    return bytes[..<found.lowerBound].count { $0 == 0x0A } + 1
  }

  @Test(arguments: Form.all, [1, 7, 100, 1 << 16])
  func ofTheXML(form: Form, chunkSize: Int) throws {
    let bytes = form.write("\(form.header)<HealthData\n locale=\"en\">\n\(body)\n</HealthData>\n")
    let report = try Reading(bytes: bytes, chunkSize: chunkSize).report
    for (finding, text) in expected {
      let found = try #require(report.remarks[finding] ?? report.skipped[finding], "\(finding): \(report)")
      #expect(found.lines == [try line(of: text, in: bytes)], "\(finding)")
    }
  }

  @Test(arguments: Form.all, [true, false])
  func ofFilesBeside(form: Form, zipped: Bool) throws {
    let folder = try TemporaryFolder()
    let route = GPXText.file([GPXText.point(0), GPXText.point(1), GPXText.point(2)])
      .replacing(
        try #require(GPXText.point(1).firstMatch(of: /<time>.*?<\/time>/)?.output), with: "\n\n<time>soon</time>")
    let files = [
      "workout-routes/a.gpx": form.write(route),
      "electrocardiograms/e.csv": form.write(ElectrocardiogramText.file(voltages: ["1", "x", "2", "", "y"])),
      "workout-routes/none.gpx": form.write("nothing"), "electrocardiograms/none.csv": form.write("nothing"),
    ]
    let workout =
      #"<Workout workoutActivityType="x" sourceName="W" startDate="\#(ExportText.date(0))"><WorkoutRoute>"#
      + #"<FileReference path="/workout-routes/a.gpx"/></WorkoutRoute></Workout>"#
    let xml = form.write(ExportText(workout).text)
    let path: String
    if zipped {
      var zip = ZipBytes()
      zip.add("apple_health_export/export.xml", xml)
      for (name, content) in files { zip.add("apple_health_export/\(name)", content) }
      path = try folder.write(zip.withDirectory, to: "export.zip")
    } else {
      path = try folder.write(xml, to: "export.xml")
      for (name, content) in files { try folder.write(content, to: name) }
    }
    let remarks = try Reading(try AppleHealthExport(path: path)).report.remarks
    let gpx = try #require(files["workout-routes/a.gpx"])
    #expect(
      remarks["workout-routes/a.gpx: a time that cannot be read"]
        == .init(count: 1, lines: [try line(of: "soon", in: gpx)]), "\(remarks)")
    // The voltages begin in line 14.
    #expect(
      remarks["electrocardiograms/e.csv: a voltage that cannot be read"] == .init(count: 2, lines: [15, 18]),
      "\(remarks)")
    // What is about all of a file has no line.
    #expect(remarks["workout-routes/none.gpx: it is no GPX track"] == .init(count: 1))
    #expect(remarks["electrocardiograms/none.csv: it is no electrocardiogram"] == .init(count: 1))
  }
}
