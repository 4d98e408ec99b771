import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import org.apache.jmeter.JMeter;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.collections.HashTree;

/** Runs plans one after another in one process: java Plans.java HOME SECONDS_MAX PLAN RESULTS [PLAN RESULTS]... */
public class Plans {
    public static void main(String[] words) throws Exception {
        File home = new File(words[0]);
        long limitMs = Long.parseLong(words[1]) * 1000;
        JMeterUtils.setJMeterHome(home.getPath());
        JMeterUtils.loadJMeterProperties(new File(home, "bin/jmeter.properties").getPath());
        JMeterUtils.setLocale(Locale.ENGLISH);
        System.setProperty(JMeter.JMETER_NON_GUI, "true");
        SaveService.loadProperties();
        Properties original = new Properties();
        original.putAll(JMeterUtils.getJMeterProperties());
        File here = new File("").getAbsoluteFile();
        Set<String> known = Set.of(here.list());
        for (int at = 2; at + 1 < words.length; at += 2) {
            // What a plan changes must not reach the next one.
            JMeterUtils.getJMeterProperties().clear();
            JMeterUtils.getJMeterProperties().putAll(original);
            JMeterUtils.setProperty("given", "property");
            String end = "done";
            try {
                end = run(new File(words[at]), words[at + 1], limitMs);
            } catch (Throwable e) {
                end = "failed " + e;
            }
            // Listeners write to the folder of the process.
            for (File file : here.listFiles(File::isFile)) {
                if (!known.contains(file.getName())) {
                    Files.move(file.toPath(), Path.of(words[at]).resolveSibling(file.getName()));
                }
            }
            System.out.println("PLAN " + Path.of(words[at]).toAbsolutePath() + " " + end);
        }
        System.exit(0);
    }

    private static String run(File plan, String results, long limitMs) throws Exception {
        FileServer.getFileServer().setBaseForScript(plan);
        HashTree tree = JMeter.convertSubTree(SaveService.loadTree(plan), true);
        ResultCollector collector = new ResultCollector();
        collector.setFilename(results);
        tree.add(tree.getArray()[0], collector);
        StandardJMeterEngine engine = new StandardJMeterEngine();
        engine.configure(tree);
        Thread thread = new Thread(engine, "engine");
        thread.start();
        thread.join(limitMs);
        if (!thread.isAlive()) {
            return "done";
        }
        engine.stopTest(true);
        thread.join(limitMs);
        return "stopped after its time";
    }
}
