@testable import HealthFormats

/// An export with every element and attribute of the document type, and unknown ones in every place.
enum EverythingExport {
  static let text: String = {
    var export = ExportText(me, record, beats, correlation, member, workout, summary, clinical, audiogram, prescription)
    export.body += [
      #"<StateOfMind type="HKStateOfMind" sourceName="App" startDate="\#(d(70))" endDate="\#(d(71))" valence="0.5" xml:lang="de">"#
        + ExportText.metadata("k", "v") + unknown("Label") + "</StateOfMind>",
      #"<Medication name="A"/>"#,
      #"<ActivitySummary activeEnergyBurned="1"/>"#, #"<ActivitySummary dateComponents="someday"/>"#,
      #"<Audiogram sourceName="s" startDate="someday">\#(unknown("Inner"))</Audiogram>"#,
      #"<VisionPrescription type="t" brand="b"/>"#, #"<ClinicalRecord identifier="i" receivedDate="someday"/>"#,
      #"<Dose dateIssued="\#(d(3))" name="B"/>"#,
    ]
    return export.text
  }()

  static func d(_ second: Int) -> String { ExportText.date(second) }

  static func unknown(_ name: String) -> String {
    #"<\#(name) a="1 &lt; 2" b.c="&#10;"><Deeper x="y"><Deepest/></Deeper></\#(name)>"#
  }

  private static let common =
    #" sourceName="Watch" sourceVersion="10.1" device="&lt;&lt;HKDevice: 0x28&gt;, name:Apple Watch, model:Watch&gt;""#
  private static let device = common + #" creationDate="\#(d(90))""#

  private static let entries =
    #"<MetadataEntry key="HKTimeZone" value="Europe/Berlin" note="n">\#(unknown("InEntry"))</MetadataEntry>"#
    + #"<MetadataEntry key="twice" value="a"/><MetadataEntry key="twice" value="b" note="2">"#
    + #"\#(unknown("InEntry"))</MetadataEntry><MetadataEntry value="no key"/>"#

  private static let me =
    ##"<Me HKCharacteristicTypeIdentifierDateOfBirth="1980-01-02" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale" HKCharacteristicTypeIdentifierBloodType="HKBloodTypeAPositive" HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeII" HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None" later="1">"##
    + unknown("InMe") + unknown("InMe") + "</Me>"

  private static func record(_ type: String, _ second: Int, _ rest: String, _ children: String) -> String {
    #"<Record type="\#(type)"\#(device) \#(rest) startDate="\#(d(second))" endDate="\#(d(second + 1))">"#
      + children + "</Record>"
  }

  private static let record = record(
    ExportText.heartRate, 0, #"unit="count/min" value="72.5" later="1" a:b="2""#, entries + unknown("InRecord"))

  private static let beats = record(
    "HKQuantityTypeIdentifierHeartRateVariabilitySDNN", 1, #"unit="ms" value="41""#,
    #"<HeartRateVariabilityMetadataList later="1">\#(unknown("InList"))"#
      + #"<InstantaneousBeatsPerMinute bpm="61" time="10:00:01.12" later="2"/>"#
      + #"<InstantaneousBeatsPerMinute bpm="62" time="10:00:02.10" later="3">\#(unknown("InBeat"))"#
      + "</InstantaneousBeatsPerMinute></HeartRateVariabilityMetadataList>")

  private static let member = record(
    "HKQuantityTypeIdentifierBloodPressureSystolic", 15, #"unit="mmHg" value="120""#, unknown("InMember"))

  private static let correlation =
    #"<Correlation type="HKCorrelationTypeIdentifierBloodPressure"\#(device) startDate="\#(d(15))" endDate="\#(d(15))" value="v" unit="u" later="1">"#
    + entries + unknown("InCorrelation") + member + "</Correlation>"

  private static func statistics(_ type: String, _ rest: String = "") -> String {
    #"<WorkoutStatistics type="\#(type)" startDate="\#(d(20))" endDate="\#(d(80))" average="1.5" minimum="1" maximum="2" sum="9" unit="count/min"\#(rest)"#
  }

  private static let event =
    #"<WorkoutEvent type="HKWorkoutEventTypePause" date="\#(d(30))" duration="0.5" durationUnit="min" later="1">"#
    + entries + unknown("InEvent") + "</WorkoutEvent>"

  private static let workout =
    #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.5" durationUnit="min" totalDistance="5.2" totalDistanceUnit="km" totalEnergyBurned="320" totalEnergyBurnedUnit="kcal" totalFlightsClimbed="3" totalFlightsClimbedUnit="count"\#(device) startDate="\#(d(20))" endDate="\#(d(80))" later="1">"#
    + entries + unknown("InWorkout") + event + #"<WorkoutEvent date="when"/>"#
    + #"<WorkoutActivity uuid="5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0003" startDate="\#(d(20))" endDate="\#(d(50))" duration="0.5" durationUnit="min" later="1">"#
    + entries + unknown("InActivity") + event + statistics("Steps", #" later="1"/>"#)
    + "</WorkoutActivity>" + statistics("Steps", #" later="2">\#(unknown("InStatistics"))</WorkoutStatistics>"#)
    + statistics("Steps", #" later="2">\#(unknown("InOther"))</WorkoutStatistics>"#) + "<WorkoutStatistics sum=\"1\"/>"
    + #"<WorkoutRoute\#(device) startDate="\#(d(21))" endDate="\#(d(79))" later="1">"# + entries + unknown("InRoute")
    + #"<FileReference path="/workout-routes/a.gpx" later="1"/>"#
    + #"<FileReference path="/workout-routes/b.gpx" later="2">\#(unknown("InReference"))</FileReference>"#
    + #"<FileReference/></WorkoutRoute>"#
    + #"<WorkoutRoute sourceName="Phone" startDate="\#(d(22))" endDate="\#(d(78))">"#
    + #"<Location date="\#(d(23))" latitude="37.7777" longitude="-122.426" altitude="21.2694" horizontalAccuracy="2.40948" verticalAccuracy="1.67859" course="-1" speed="2.48034"/>"#
    + #"<Location latitude="37.5" longitude="-122"/><Location date="\#(d(25))" latitude="1" longitude="2" later="1"/>"#
    + "</WorkoutRoute>" + #"<WorkoutRoute\#(common)><FileReference path="c.gpx"/></WorkoutRoute>"# + "</Workout>"

  private static let summary =
    ##"<ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="455.1" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal" appleMoveTime="0" appleMoveTimeGoal="30" appleExerciseTime="31" appleExerciseTimeGoal="30" appleStandHours="9" appleStandHoursGoal="12" later="1">"##
    + entries + unknown("InSummary") + "</ActivitySummary>"

  private static let clinical =
    #"<ClinicalRecord type="LabResultRecord" identifier="abc" sourceName="Clinic" sourceURL="https://example.org/?a=1&amp;b=2" fhirVersion="4.0.1" receivedDate="\#(d(60))" resourceFilePath="/clinical-records/a.json" later="1">"#
    + entries + unknown("InClinical") + "</ClinicalRecord>"

  private static func point(_ rest: String) -> String {
    #"<SensitivityPoint frequencyValue="250" frequencyUnit="Hz" leftEarValue="10.5" leftEarUnit="dBHL" leftEarMasked="1" leftEarClampingRangeLowerBound="-10" leftEarClampingRangeUpperBound="85" rightEarValue="12" rightEarUnit="dBHL" rightEarMasked="false" rightEarClampingRangeLowerBound="-10.5" rightEarClampingRangeUpperBound="86"\#(rest)"#
  }

  private static let audiogram =
    #"<Audiogram type="HKDataTypeIdentifierAudiogram"\#(device) startDate="\#(d(30))" endDate="\#(d(40))" later="1">"#
    + entries + unknown("InAudiogram") + point("/>") + point(#" later="2">\#(unknown("InPoint"))</SensitivityPoint>"#)
    + #"<SensitivityPoint frequencyValue="500" frequencyUnit="Hz" leftEarUnit="dBHL"/><SensitivityPoint/></Audiogram>"#

  private static func eye(_ name: String) -> String {
    let attributes = [
      "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve",
      "diameter", "later",
    ]
    return "<\(name) "
      + attributes.enumerated().map { "\($1)=\"-\($0).25\" \($1)Unit=\"D\"" }.joined(separator: " ")
      + " word=\"w\">\(unknown("In\(name)"))</\(name)>"
  }

  private static let prescription =
    #"<VisionPrescription type="HKVisionPrescriptionTypeIdentifier" dateIssued="\#(d(50))" expirationDate="\#(d(99))" brand="B" later="1">"#
    + eye("RightEye") + eye("LeftEye") + #"<RightEye sphere="1"/>"# + #"<Attachment identifier="first" later="1"/>"#
    + #"<Attachment identifier="second" later="1">\#(unknown("InAttachment"))</Attachment>"# + entries
    + unknown("InPrescription") + "</VisionPrescription>"
}
